package io.seckill.consumer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.seckill.testing.architecture.ArchitectureRules;
import jakarta.persistence.EntityManager;
import org.springframework.data.repository.CrudRepository;

@AnalyzeClasses(packages = "io.seckill.consumer", importOptions = DoNotIncludeTests.class)
class ConsumerArchitectureTest {

  @ArchTest static final ArchTests rules = ArchTests.in(ArchitectureRules.class);

  /** facts.md 36: save() of a row with a known id is a merge and overwrites the stored row. */
  @ArchTest
  static final ArchRule nothingIsMergedIntoTheLedger =
      noClasses()
          .should()
          .beAssignableTo(CrudRepository.class)
          .orShould()
          .callMethod(EntityManager.class, "merge", Object.class);
}
