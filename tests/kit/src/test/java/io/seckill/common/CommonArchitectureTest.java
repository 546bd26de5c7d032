package io.seckill.common;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import io.seckill.testing.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "io.seckill.common", importOptions = DoNotIncludeTests.class)
class CommonArchitectureTest {

  @ArchTest
  static final ArchRule featuresAreFreeOfCycles =
      ArchitectureRules.featuresAreFreeOfCycles("common");

  @ArchTest static final ArchRule packagesAreFeatures = ArchitectureRules.packagesAreFeatures();

  @ArchTest
  static final ArchRule servicesDoNotKnowEachOther =
      ArchitectureRules.servicesDoNotKnowEachOther("common");

  @ArchTest static final ArchRule packagesAreNullMarked = ArchitectureRules.packagesAreNullMarked();

  @ArchTest
  static final ArchRule nothingIsInjectedIntoFields =
      ArchitectureRules.nothingIsInjectedIntoFields();

  @ArchTest static final ArchRule nobodySleeps = ArchitectureRules.nobodySleeps();

  @ArchTest
  static final ArchRule knowsNoSpring =
      ArchRuleDefinition.noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.springframework..");

  @ArchTest static final ArchRule logsGoThroughSlf4j = ArchitectureRules.logsGoThroughSlf4j();

  @ArchTest static final ArchRule namesSayWhatAClassIs = ArchitectureRules.namesSayWhatAClassIs();

  @ArchTest static final ArchRule nobodyParks = ArchitectureRules.nobodyParks();
}
