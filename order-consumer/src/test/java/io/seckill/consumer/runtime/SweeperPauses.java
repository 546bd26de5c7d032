package io.seckill.consumer.runtime;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/** Other pauses of sweepers, for tests: short ones, or so long that only the tests sweep. */
public final class SweeperPauses
    implements ApplicationContextInitializer<ConfigurableApplicationContext>, BeanPostProcessor {

  private static final String PREFIX = "pause.";

  private final Map<String, Duration> pauses = new HashMap<>();

  private SweeperPauses() {}

  /** Takes the entries {@code pause.<name of the sweeper's bean>} out of a test's settings. */
  public static SweeperPauses removedFrom(Map<String, String> settings) {
    SweeperPauses result = new SweeperPauses();
    settings.forEach(
        (name, value) -> {
          if (name.startsWith(PREFIX)) {
            result.pauses.put(name.substring(PREFIX.length()), DurationStyle.detectAndParse(value));
          }
        });
    settings.keySet().removeIf(name -> name.startsWith(PREFIX));
    return result;
  }

  /** One round, as its thread makes it. */
  public static void round(Sweeper sweeper) {
    sweeper.round();
  }

  @Override
  public void initialize(ConfigurableApplicationContext context) {
    context.addBeanFactoryPostProcessor(
        beans -> {
          pauses.keySet().forEach(beans::getBeanDefinition); // fails for an unknown name
          beans.addBeanPostProcessor(this);
        });
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    Duration pause = pauses.get(name);
    return pause == null ? bean : new Sweeper(name, pause, ((Sweeper) bean)::round);
  }
}
