import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.Version;

/**
 * Lucene as a contestant: words split at spaces, BM25 k1 1.2 b 0.75, frequencies, positions only for
 * phrases, one segment, top k without counting hits. Speaks the protocol of bench/rivals/protocol.py.
 */
public final class LuceneRival {
    private final IndexSearcher searcher;
    private final Query[] queries;
    private final int topK;
    private final int threads;

    private LuceneRival(IndexSearcher searcher, Query[] queries, int topK, int threads) {
        this.searcher = searcher;
        this.queries = queries;
        this.topK = topK;
        this.threads = threads;
    }

    private ScoreDoc[] search(int query) throws IOException {
        // A threshold of topK lets Lucene skip whatever cannot enter the answer.
        return searcher.search(
                        queries[query], new TopScoreDocCollectorManager(topK, null, topK))
                .scoreDocs;
    }

    private String ids() throws IOException {
        StringBuilder out = new StringBuilder("{\"ids\": [");
        for (int i = 0; i < queries.length; ++i) {
            out.append(i == 0 ? "[" : ", [");
            ScoreDoc[] hits = search(i);
            for (int j = 0; j < hits.length; ++j) {
                out.append(j == 0 ? "" : ", ").append(hits[j].doc);
            }
            out.append(']');
        }
        return out.append("]}").toString();
    }

    private String round() throws Exception {
        double[] micros = new double[queries.length];
        AtomicInteger next = new AtomicInteger();
        Exception[] failure = new Exception[1];
        Runnable work =
                () -> {
                    try {
                        for (int i = next.getAndIncrement(); i < queries.length; i = next.getAndIncrement()) {
                            long start = System.nanoTime();
                            search(i);
                            micros[i] = (System.nanoTime() - start) / 1e3;
                        }
                    } catch (IOException | RuntimeException error) {
                        failure[0] = error;
                    }
                };
        long start = System.nanoTime();
        Thread[] others = new Thread[threads - 1];
        for (int i = 0; i < others.length; ++i) (others[i] = new Thread(work)).start();
        work.run();
        for (Thread other : others) other.join();
        double seconds = (System.nanoTime() - start) / 1e9;
        if (failure[0] != null) throw failure[0];
        Arrays.sort(micros);
        return String.format(
                Locale.ROOT,
                "{\"qps\": %.6f, \"p50_us\": %.3f, \"p99_us\": %.3f}",
                queries.length / seconds,
                micros[(int) (0.50 * (micros.length - 1))],
                micros[(int) (0.99 * (micros.length - 1))]);
    }

    private static void index(Directory directory, List<String> corpus, boolean positions)
            throws IOException {
        IndexWriterConfig config = new IndexWriterConfig(new WhitespaceAnalyzer());
        config.setSimilarity(new BM25Similarity(1.2f, 0.75f));
        config.setMergePolicy(new LogDocMergePolicy()); // neighbours only: keeps the order of rows
        config.setRAMBufferSizeMB(512);
        config.setUseCompoundFile(false);
        FieldType words = new FieldType();
        words.setIndexOptions(
                positions
                        ? IndexOptions.DOCS_AND_FREQS_AND_POSITIONS
                        : IndexOptions.DOCS_AND_FREQS);
        words.setTokenized(true);
        words.freeze();
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            Document document = new Document();
            Field text = new Field("text", "", words);
            NumericDocValuesField row = new NumericDocValuesField("row", 0);
            document.add(text);
            document.add(row);
            for (int i = 0; i < corpus.size(); ++i) {
                text.setStringValue(corpus.get(i));
                row.setLongValue(i);
                writer.addDocument(document);
            }
            writer.forceMerge(1);
            writer.commit();
        }
    }

    private static void checkOrder(DirectoryReader reader) throws IOException {
        LeafReader leaf = reader.leaves().get(0).reader();
        NumericDocValues rows = leaf.getNumericDocValues("row");
        for (int doc = rows.nextDoc(); doc != NumericDocValues.NO_MORE_DOCS; doc = rows.nextDoc()) {
            if (rows.longValue() != doc) throw new IOException("documents are not in row order");
        }
    }

    private static Query query(String line, String match) {
        if (match.equals("phrase")) return new PhraseQuery("text", line.split(" "));
        BooleanClause.Occur occur =
                match.equals("all") ? BooleanClause.Occur.MUST : BooleanClause.Occur.SHOULD;
        BooleanQuery.Builder builder = new BooleanQuery.Builder();
        for (String word : line.split(" ")) {
            builder.add(new TermQuery(new Term("text", word)), occur);
        }
        return builder.build();
    }

    private static long bytes(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    private static long heap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, String> flags = new HashMap<>();
        for (int i = 1; i + 1 < arguments.length; i += 2) flags.put(arguments[i], arguments[i + 1]);
        List<String> corpus = Files.readAllLines(Path.of(flags.get("--corpus")), StandardCharsets.UTF_8);
        String match = flags.getOrDefault("--match", "any");
        Query[] queries =
                Files.readAllLines(Path.of(flags.get("--queries")), StandardCharsets.UTF_8).stream()
                        .map(line -> query(line, match))
                        .toArray(Query[]::new);
        Path folder = Path.of(flags.get("--scratch"), "lucene");
        Files.createDirectories(folder);
        long before = heap();
        long start = System.nanoTime();
        MMapDirectory directory = new MMapDirectory(folder);
        index(directory, corpus, match.equals("phrase"));
        DirectoryReader reader = DirectoryReader.open(directory);
        double seconds = (System.nanoTime() - start) / 1e9;
        checkOrder(reader);
        IndexSearcher searcher = new IndexSearcher(reader);
        searcher.setSimilarity(new BM25Similarity(1.2f, 0.75f));
        searcher.setQueryCache(null);
        System.out.printf(
                Locale.ROOT,
                "{\"ready\": true, \"version\": \"%s\", \"build_seconds\": %.3f, \"index_bytes\": %d,"
                        + " \"memory_bytes\": %d, \"note\": \"Java %s, BM25 k1 1.2 b 0.75, %s,"
                        + " one segment, hits not counted\"}%n",
                Version.LATEST,
                seconds,
                bytes(folder),
                Math.max(0, heap() - before),
                Runtime.version().feature(),
                match.equals("phrase") ? "positions" : "no positions");
        LuceneRival rival =
                new LuceneRival(
                        searcher,
                        queries,
                        Integer.parseInt(flags.getOrDefault("--top-k", "10")),
                        Integer.parseInt(flags.getOrDefault("--threads", "1")));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String command = line.strip().split(" ")[0];
            switch (command) {
                case "" -> {}
                case "ids" -> System.out.println(rival.ids());
                case "round" -> System.out.println(rival.round());
                default -> System.out.println("{\"error\": \"expected \\\"round\\\" or \\\"ids\\\"\"}");
            }
            System.out.flush();
        }
    }
}
