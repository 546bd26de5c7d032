package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.core.type.filter.AnnotationTypeFilter;
import org.springframework.util.ClassUtils;

/** What every number and every time that a service can be given must do. */
public final class SettingsContract {

  /** No setting takes one of them. */
  private static final List<String> BAD_NUMBERS = List.of("-1", "99999999999999999999", "many");

  /** As {@link #BAD_NUMBERS}; the second has more milliseconds than a long. */
  private static final List<String> BAD_TIMES = List.of("-1s", "PT9000000000000H", "1x");

  /** Required by a record that also has a time. */
  private static final Map<String, String> REQUIRED = Map.of("seckill.broker.urls", "amqp://a/b");

  private SettingsContract() {}

  /**
   * Gives bad values to the settings of the records on the class path, one at a time.
   *
   * @param some names of settings that must be among them
   */
  public static void refusesBadValuesByFullName(String... some) {
    List<String> settings = new ArrayList<>();
    List<String> wrong = new ArrayList<>();
    for (Class<?> type : records()) {
      String prefix = type.getAnnotation(ConfigurationProperties.class).value();
      for (RecordComponent component : type.getRecordComponents()) {
        String setting = prefix + "." + DataObjectPropertyName.toDashedForm(component.getName());
        for (String value : badValues(component.getType())) {
          settings.add(setting);
          String refusal = refusal(type, prefix, setting, value);
          if (!refusal.contains(setting)) {
            wrong.add(setting + "=" + value + ": " + refusal);
          }
        }
      }
    }

    assertThat(settings).contains(some);
    assertThat(wrong).isEmpty();
  }

  private static List<Class<?>> records() {
    ClassPathScanningCandidateComponentProvider scan =
        new ClassPathScanningCandidateComponentProvider(false);
    scan.addIncludeFilter(new AnnotationTypeFilter(ConfigurationProperties.class));
    Stream<Class<?>> found =
        scan.findCandidateComponents("io.seckill").stream()
            .map(BeanDefinition::getBeanClassName)
            .map(name -> ClassUtils.resolveClassName(name, null));
    return found.filter(Class::isRecord).toList();
  }

  private static List<String> badValues(Class<?> type) {
    if (type == Duration.class) {
      return BAD_TIMES;
    }
    boolean isNumber = Number.class.isAssignableFrom(ClassUtils.resolvePrimitiveIfNecessary(type));
    return isNumber ? BAD_NUMBERS : List.of();
  }

  /** All that is said about the value; empty when it is taken. */
  private static String refusal(Class<?> type, String prefix, String setting, String value) {
    Map<String, String> properties = new HashMap<>(REQUIRED);
    properties.put(setting, value);
    try {
      var unused =
          new Binder(new MapConfigurationPropertySource(properties)).bindOrCreate(prefix, type);
      return "";
    } catch (BindException e) {
      return Stream.<Throwable>iterate(e, cause -> cause != null, Throwable::getCause)
          .map(Throwable::toString)
          .reduce("", (all, one) -> all + one + "\n");
    }
  }
}
