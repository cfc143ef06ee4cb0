import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/** One node of a test cluster per process: settings come as key=value arguments, a list ends in a comma. */
public class ClusterNode {
  private static class EmbeddedNode extends Node {
    EmbeddedNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
      super(environment, plugins, true);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Settings.Builder builder = Settings.builder();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String key = argument.substring(0, equals);
      String value = argument.substring(equals + 1);
      if (value.indexOf(',') >= 0) {
        builder.putList(key, value.split(","));
      } else {
        builder.put(key, value);
      }
    }
    Settings settings = builder.build();
    LogConfigurator.configureWithoutConfig(settings);
    Environment environment = InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node");
    Node node = new EmbeddedNode(
        environment,
        List.of(Netty4Plugin.class, CommonAnalysisPlugin.class, PainlessPlugin.class, KNNPlugin.class));
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      try {
        node.close();
      } catch (Exception e) {
        e.printStackTrace();
      }
      closed.countDown();
    }));
    node.start();
    closed.await();
  }
}
