#include "braid/text/stop_words.hpp"

#include <algorithm>
#include <map>

namespace braid::text {
namespace {

struct List {
    std::string_view language;
    std::string_view words;  // separated by one space
};

// Case folded and composed, as the analyzer looks them up.
constexpr List kLists[] = {
    {"arabic",
     "و أو ثم في من إلى على عن مع هو هي هم هن أنا نحن أنت هذا هذه ذلك تلك الذي التي الذين ما ماذا "
     "متى أين كيف لماذا هل كان كانت يكون تكون أن إن قد كل بين عند بعد قبل حتى كما لكن إذا"},
    {"armenian",
     "եւ ու կամ իսկ բայց որ որը որոնք է են եմ ես եք ենք էր էին ի մեջ վրա հետ համար մասին այս այդ "
     "այն "
     "նա նրա նրանք մենք դու դուք ինչ ով երբ որտեղ ինչպես ինչու եթե"},
    {"basque",
     "eta edo baina ere da dira zen ziren du dute zuen zuten bat hau hori hura hauek horiek haiek "
     "ni "
     "zu gu bera nor zer non noiz nola zergatik zein bezala arte baino"},
    {"catalan",
     "a al als amb aquest aquesta aquests aquestes com de del dels des el ella elles ells els em "
     "en "
     "entre era eren es et fins ha han has he hi i jo la les li lo llur on per però perquè quan "
     "que "
     "qual quals quan qui quin quina què se ser seu seva si són sobre ta te tu un una unes uns va "
     "vosaltres és"},
    {"danish",
     "af at da de dem den denne der deres det dette dig din disse du efter eller en er et for fra "
     "ham han har havde hende hendes hun hvad hvem hvilken hvilke hvor hvordan hvorfor hvornår i "
     "jeg "
     "jer med men mig min og om os over på sig sin som så til ud var vi ved være"},
    {"dutch",
     "aan als bij dan dat de deze die dit door een en er had heb hebben heeft het hij hoe hun ik "
     "in "
     "is je kan maar me met mij mijn na naar of om onder ons op over te tot uit u uw van voor waar "
     "waarom wanneer waren was wat we welke wie wij worden wordt ze zich zij zijn zo zou"},
    {"english",
     "a about am an and are as at be been being but by did do does doing for from had has have "
     "having he her his how i if in into is it its me my of on or our she so such than that the "
     "their them then there these they this those to was we were what when where which while who "
     "whom whose why with you your"},
    {"finnish",
     "ja tai sekä mutta että jos kun kuin joka jotka jonka joita jossa mikä mitä missä milloin "
     "miten "
     "miksi kuka ketkä se ne hän he minä sinä me te tämä nämä tuo nuo sen sitä siinä on ovat oli "
     "olivat olla ollut niin myös kanssa"},
    {"french",
     "a ai alors au aux avec avait avaient avoir ce ceci cela ces cet cette ceux comme comment d "
     "dans de depuis des dont du elle elles en entre est et étaient était été être eu eux il ils j "
     "je l la le les leur leurs lui m ma mais me mes moi mon n notre nos nous on ont où ou par "
     "pendant pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa se ses si son "
     "sont "
     "sur t ta te tes toi ton tu un une vos votre vous y"},
    {"german",
     "aber als am an auch auf aus bei bin bis da damit dann das dass dein dem den denn der des "
     "dich "
     "die dies diese diesem diesen dieser dieses dir du durch ein eine einem einen einer eines er "
     "es "
     "euch euer für gegen habe haben hat hatte hatten ich ihm ihn ihnen ihr ihre ihrem ihren ihrer "
     "im in ins ist ja mein mich mir mit nach ob oder seid sein seine seinem seinen seiner seit "
     "sich "
     "sie sind so über um und uns unser unter vom von vor wann war waren warum was welche welchem "
     "welchen welcher welches wem wen wenn wer werden wie wir wird wo wurde wurden zu zum zur"},
    {"greek",
     "ο η το οι τα του τησ των τον την ένασ μια μία ένα και ή αλλά να θα με σε στο στη στην στον "
     "στα "
     "στουσ στισ από για προσ κατά μετά είναι ήταν είχε έχει έχουν που ποιοσ ποια ποιο ποιοι τι "
     "πότε "
     "πού πώσ πωσ γιατί ότι αν αυτόσ αυτή αυτό αυτοί αυτά εγώ εσύ εμείσ εσείσ μου σου μασ σασ τουσ "
     "όπωσ ωσ"},
    {"hindi",
     "का की के को में से पर और या है हैं था थी थे हो होता होती होते यह ये वह वे इस इन उस उन जो कि तो "
     "ही भी मैं हम तुम आप मेरा अपना अपने एक क्या कौन कब कहाँ कहां कैसे क्यों लिए साथ तक ने"},
    {"hungarian",
     "a az egy és vagy de hogy ha is mint aki akik ami amely amelyek ez ezek ki kik mi mit mikor "
     "hol "
     "hogyan miért én te ő mi ti ők van vannak volt voltak lesz meg el be fel le"},
    {"indonesian",
     "dan atau tetapi yang di ke dari pada untuk dengan oleh dalam ini itu adalah ialah akan telah "
     "sudah saya aku kamu anda dia ia kami kita mereka apa siapa kapan bagaimana mengapa jika "
     "bahwa "
     "sebagai karena juga para"},
    {"irish",
     "agus nó ach an na a i in ar as le do de ó go faoi um tá bhí is ba atá mé tú sé sí muid sibh "
     "siad seo sin cad cé conas cathain má mar"},
    {"italian",
     "a ad agli ai al alla alle allo anche che chi ci come con cui d da dagli dai dal dalla dalle "
     "de degli dei del della delle dello di dove e ed era erano essere fra gli ha hai hanno ho i "
     "il "
     "in io l la le lei li lo loro lui ma me mi mia mio ne negli nei nel nella nelle noi o per "
     "perché quale quali quando quella quelle quelli quello questa queste questi questo se si "
     "siamo "
     "sia sono sta stato su sua sue sugli sui sul sulla suo suoi te ti tra tu un una uno vi voi è"},
    {"lithuanian",
     "ir ar bet o kad kai kaip jei jeigu yra buvo būti į iš su prie po per už nuo iki apie aš tu "
     "jis "
     "ji mes jūs jie jos tai tas ta tie tos šis ši šie šios kas kur kada kodėl kuris kuri kurie "
     "kurios"},
    {"nepali",
     "र वा तर को का की मा ले लाई बाट सँग यो यी त्यो ती म हामी तिमी तपाईं उनी छ छन् थियो थिए हो हुन् "
     "भने कि जो जुन के कसरी किन कहाँ कहिले पनि"},
    {"norwegian",
     "at av da de dem den denne der deres det dette deg din disse du eller en er et etter for fra "
     "ham han har hadde henne hennes hun hva hvem hvilken hvilke hvor hvordan hvorfor når i jeg "
     "med men meg min og om oss over på seg sin som så til ut var vi ved være vart ho eit dei eg"},
    {"portuguese",
     "a ao aos aquela aquele aquilo as às com como da das de dela dele do dos e é ela elas ele "
     "eles "
     "em entre era eram essa esse esta está este estão eu foi foram há isso isto já lhe lhes mas "
     "me "
     "meu minha na nas no nos nós nossa nosso o onde os ou para pela pelas pelo pelos por porque "
     "qual quais quando que quem se sem ser seu sua seus suas são só sobre te tem têm tu tua teu "
     "um "
     "uma umas uns você vocês vos à"},
    {"romanian",
     "a al ale ai am are au aș acest această acești aceste acel acea că când care ce cine cu cum "
     "cât "
     "da dar de din după e ea ei el ele este era erau eu fi fost în îi îl îmi la le lui mai mea "
     "meu "
     "mi ne noi o ori pe pentru prin sa sau se si și sunt sub te tu un una unde unei unui vă voi"},
    {"russian",
     "а бы был была были было быть в вам вас ваш во вот все всё вы где да для до его ее её если "
     "есть "
     "же за и из или им их к как какая какие какой когда который которая которые которое кто ли "
     "мне "
     "мой мы на над нам нас наш него нее неё них но о об он она они оно от по под почему при про с "
     "свой себя со так такой также там те тем то того тоже той только том тот ты у уже чем через "
     "что "
     "чтобы эта эти это этого этой этом этот я"},
    {"serbian",
     "i ili ali a da je su sam si smo ste bio bila bili biti u na iz od do za sa s o po pri kod "
     "kao koji koja koje ko šta što kada gde gdje kako zašto ovaj ova ovo taj ta to onaj ona ono "
     "on "
     "oni mi vi ja ti se li и или али а да је су сам си смо сте био била били бити у на из од до "
     "за "
     "са с о по при код као који која које ко шта што када где гдје како зашто овај ова ово тај та "
     "то онај она оно он они ми ви ја ти се ли"},
    {"spanish",
     "a al como con cual cuál cuáles cuando cuándo cuya cuyo de del desde donde dónde el él ella "
     "ellas ellos en entre era eran es esa ese eso esos esta está están este esto estos fue fueron "
     "ha había han hasta hay la las le les lo los me mi mis muy más nos nosotros o para pero por "
     "porque qué que quien quién quiénes se ser si su sus son sobre también te tu tus un una unas "
     "unos usted ustedes vosotros y ya yo cómo"},
    {"swedish",
     "att av de dem den denna deras dess dessa det detta dig din du där då efter eller en er ett "
     "från för ha hade han hans har hennes henne hon hur i jag med men mig min mot ni nu när och "
     "om "
     "oss på sig sin som så till under upp var vad vem vi vid vilka vilken vilket varför vara är "
     "över"},
    {"tamil",
     "மற்றும் அல்லது ஆனால் ஒரு இந்த அந்த இது அது இவை அவை நான் நாம் நீ நீங்கள் அவன் அவள் அவர் அவர்கள் "
     "என்ன யார் எப்போது எங்கே எப்படி ஏன் என்று என உள்ள உள்ளது"},
    {"turkish",
     "ve veya ya da de ile için gibi kadar ama fakat ancak ki bu şu o bunlar şunlar onlar ben sen "
     "biz siz bir mi mı mu mü ne kim nerede nasıl neden niçin hangi ise olarak olan oldu dir dır"},
    {"yiddish",
     "און אדער אָדער אבער אָבער דער די דאָס דאס דעם א אַ אן אַן אין אויף פון פֿון צו מיט ביי בײַ איז "
     "זענען זײַנען געווען איך דו ער זי עס מיר איר זיי וואָס וואס ווער ווען וווּ ווי פארוואס פאַרוואָס"},
};

std::unordered_set<std::string_view> split(std::string_view words) {
    std::unordered_set<std::string_view> all;
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(' '), words.size());
        all.insert(words.substr(0, end));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return all;
}

}  // namespace

const StopWords& StopWords::of(std::string_view language) {
    static const auto lists = [] {
        std::map<std::string_view, StopWords> all;
        for (const List& list : kLists) all[list.language].words_ = split(list.words);
        return all;
    }();
    static const StopWords none;
    // The older stemmer of the same language.
    const auto found = lists.find(language == "porter" ? "english" : language);
    return found == lists.end() ? none : found->second;
}

}  // namespace braid::text
