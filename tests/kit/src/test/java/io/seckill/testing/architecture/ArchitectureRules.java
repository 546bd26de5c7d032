package io.seckill.testing.architecture;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.ZoneId;
import java.util.TimeZone;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Architecture rules for every module: {@code ArchTests.in(ArchitectureRules.class)}. */
public final class ArchitectureRules {

  private static final Pattern MODULE = Pattern.compile("io\\.seckill\\.(\\w+)\\b.*");

  /** Packages of common, service-support and relay-lanes. */
  private static final Pattern SHARED =
      Pattern.compile("io\\.seckill\\.(common|support|relay\\.(lane|publish|recovery))(\\..*)?");

  @ArchTest
  static final ArchRule featuresAreFreeOfCycles =
      slices().matching("io.seckill.*.(*)..").should().beFreeOfCycles().allowEmptyShould(true);

  @ArchTest
  static final ArchRule packagesAreFeatures =
      noClasses()
          .should()
          .resideInAnyPackage(
              "..util..", "..utils..", "..helper..", "..impl..", "..controller..", "..service..")
          .because("packages are features of the sale, not layers or left-overs");

  @ArchTest
  static final ArchRule servicesDoNotKnowEachOther =
      classes()
          .should(dependOnNoOtherService())
          .because("services talk through Redis, RabbitMQ, MySQL and HTTP only");

  @ArchTest
  static final ArchRule nothingIsInjectedIntoFields =
      noFields()
          .should()
          .beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired")
          .orShould()
          .beAnnotatedWith("org.springframework.beans.factory.annotation.Value")
          .because("dependencies come by constructor, settings as records")
          .allowEmptyShould(true);

  @ArchTest
  static final ArchRule nobodySleeps =
      noClasses()
          .should()
          .callMethod(Thread.class, "sleep", long.class)
          .because("code waits with signals and deadlines");

  @ArchTest
  static final ArchRule timesAreUtc =
      noClasses()
          .should()
          .callMethod(ZoneId.class, "systemDefault")
          .orShould()
          .callMethod(TimeZone.class, "getDefault")
          .orShould()
          .callMethod(Clock.class, "systemDefaultZone")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Timestamp.class)
          .because("days and times are UTC, in whatever time zone a machine is");

  @ArchTest
  static final ArchRule logsGoThroughSlf4j =
      CompositeArchRule.of(NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS)
          .and(noClasses().should().callMethodWhere(target(name("printStackTrace"))))
          .and(NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING);

  @ArchTest
  static final ArchRule namesSayWhatAClassIs =
      noClasses()
          .should()
          .haveNameMatching(".*(Manager|Helper|Utils?|Impl|Data|Info)(\\$.*)?")
          .because("a name says what its class does");

  @ArchTest
  static final ArchRule nobodyParks =
      noClasses()
          .that()
          .doNotHaveSimpleName("Sleeps")
          .should()
          .accessClassesThat()
          .areAssignableTo(LockSupport.class)
          .because("code waits for signals that a stop can give; Sleeps is order-consumer's")
          .allowEmptyShould(true);

  private ArchitectureRules() {}

  private static ArchCondition<JavaClass> dependOnNoOtherService() {
    return new ArchCondition<>("depend on no other service") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
          JavaClass used = dependency.getTargetClass();
          String target = module(used);
          if (!target.isEmpty()
              && !target.equals(module(type))
              && !SHARED.matcher(used.getPackageName()).matches()) {
            events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
          }
        }
      }
    };
  }

  /** Returns the part of the package after {@code io.seckill}, or "" outside it. */
  private static String module(JavaClass type) {
    Matcher module = MODULE.matcher(type.getPackageName());
    return module.matches() ? module.group(1) : "";
  }
}
