package io.seckill.consumer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.seckill.testing.architecture.ArchitectureRules;
import jakarta.persistence.EntityManager;
import org.springframework.data.repository.CrudRepository;

@AnalyzeClasses(packages = "io.seckill.consumer", importOptions = DoNotIncludeTests.class)
class ConsumerArchitectureTest {

  @ArchTest
  static final ArchRule featuresAreFreeOfCycles =
      ArchitectureRules.featuresAreFreeOfCycles("consumer");

  @ArchTest static final ArchRule packagesAreFeatures = ArchitectureRules.packagesAreFeatures();

  @ArchTest
  static final ArchRule servicesDoNotKnowEachOther =
      ArchitectureRules.servicesDoNotKnowEachOther("consumer");

  @ArchTest static final ArchRule packagesAreNullMarked = ArchitectureRules.packagesAreNullMarked();

  @ArchTest
  static final ArchRule nothingIsInjectedIntoFields =
      ArchitectureRules.nothingIsInjectedIntoFields();

  /** facts.md 36: save() of a row with a known id is a merge and overwrites the stored row. */
  @ArchTest
  static final ArchRule nothingIsMergedIntoTheLedger =
      noClasses()
          .should()
          .beAssignableTo(CrudRepository.class)
          .orShould()
          .callMethod(EntityManager.class, "merge", Object.class);

  @ArchTest static final ArchRule nobodySleeps = ArchitectureRules.nobodySleeps();

  @ArchTest static final ArchRule logsGoThroughSlf4j = ArchitectureRules.logsGoThroughSlf4j();

  @ArchTest static final ArchRule namesSayWhatAClassIs = ArchitectureRules.namesSayWhatAClassIs();

  @ArchTest static final ArchRule nobodyParks = ArchitectureRules.nobodyParks("Pause");
}
