package io.seckill.testing.architecture;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.GeneralCodingRules.NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.NullMarked;

/**
 * Architecture rules for every module; each module's architecture test applies all of them to the
 * module.
 */
public final class ArchitectureRules {

  private ArchitectureRules() {}

  /**
   * @param module last part of the module's base package: common, support, gateway, relay, consumer
   */
  public static ArchRule featuresAreFreeOfCycles(String module) {
    return slices()
        .matching("io.seckill." + module + ".(*)..")
        .should()
        .beFreeOfCycles()
        .allowEmptyShould(true);
  }

  /** Packages are features of the sale, not layers or left-overs. */
  public static ArchRule packagesAreFeatures() {
    return noClasses()
        .should()
        .resideInAnyPackage(
            "..util..", "..utils..", "..helper..", "..impl..", "..controller..", "..service..")
        .because("packages are features, not layers");
  }

  /**
   * A service depends only on common, service-support and itself: services share message contracts,
   * not classes.
   */
  public static ArchRule servicesDoNotKnowEachOther(String module) {
    return noClasses()
        .that()
        .resideInAPackage("io.seckill." + module + "..")
        .should()
        .dependOnClassesThat(
            JavaClass.Predicates.resideInAPackage("io.seckill..")
                .and(
                    JavaClass.Predicates.resideOutsideOfPackages(
                        "io.seckill." + module + "..",
                        "io.seckill.common..",
                        "io.seckill.support..",
                        "io.seckill.testing..")))
        .because("services talk through Redis, RabbitMQ, MySQL and HTTP only");
  }

  /** NullAway only checks packages that are annotated @NullMarked. */
  public static ArchRule packagesAreNullMarked() {
    return ArchRuleDefinition.classes().should(resideInANullMarkedPackage());
  }

  /** Settings are records, and dependencies are constructor arguments. */
  public static ArchRule nothingIsInjectedIntoFields() {
    return noFields()
        .should()
        .beAnnotatedWith("org.springframework.beans.factory.annotation.Autowired")
        .orShould()
        .beAnnotatedWith("org.springframework.beans.factory.annotation.Value")
        .because("dependencies come by constructor, settings as records")
        .allowEmptyShould(true);
  }

  /** Code waits with signals, deadlines or Awaitility. */
  public static ArchRule nobodySleeps() {
    return noClasses().should().callMethod(Thread.class, "sleep", long.class);
  }

  /** Logs go through SLF4J. */
  public static ArchRule logsGoThroughSlf4j() {
    return com.tngtech.archunit.lang.CompositeArchRule.of(NO_CLASSES_SHOULD_ACCESS_STANDARD_STREAMS)
        .and(NO_CLASSES_SHOULD_USE_JAVA_UTIL_LOGGING);
  }

  /** A class is named for what it does or is; these suffixes say neither. */
  public static ArchRule namesSayWhatAClassIs() {
    return noClasses()
        .should()
        .haveNameMatching(".*(Manager|Helper|Utils?|Impl|Data|Info)(\\$.*)?")
        .because("a name says what its class does");
  }

  /**
   * Code waits for signals that a stop can give.
   *
   * @param classes simple names of the classes that may park
   */
  public static ArchRule nobodyParks(String... classes) {
    List<String> allowed = List.of(classes);
    return noClasses()
        .that(
            DescribedPredicate.describe(
                "are not " + allowed, type -> !allowed.contains(type.getSimpleName())))
        .should()
        .accessClassesThat()
        .areAssignableTo(LockSupport.class)
        .allowEmptyShould(true);
  }

  private static ArchCondition<JavaClass> resideInANullMarkedPackage() {
    return new ArchCondition<>("reside in a package annotated @NullMarked") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        if (!type.getPackage().isAnnotatedWith(NullMarked.class)) {
          events.add(
              SimpleConditionEvent.violated(
                  type, type.getPackageName() + " has no @NullMarked package-info"));
        }
      }
    };
  }
}
