package io.seckill.consumer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import com.tngtech.archunit.lang.ArchRule;
import io.seckill.testing.architecture.ArchitectureRules;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import org.hibernate.annotations.DynamicUpdate;
import org.springframework.data.repository.CrudRepository;

@AnalyzeClasses(packages = "io.seckill.consumer", importOptions = DoNotIncludeTests.class)
class ConsumerArchitectureTest {

  @ArchTest static final ArchTests rules = ArchTests.in(ArchitectureRules.class);

  /** facts.md 36: save() of a row with a known id and no version overwrites the stored row. */
  @ArchTest
  static final ArchRule nothingIsMergedIntoTheLedger =
      noClasses()
          .should()
          .beAssignableTo(CrudRepository.class)
          .orShould()
          .callMethod(EntityManager.class, "merge", Object.class);

  /** Wallets are right with Redis and RabbitMQ empty: MySQL has all of them. */
  @ArchTest
  static final ArchRule walletsAreInMySqlAlone =
      noClasses()
          .that()
          .resideInAPackage("io.seckill.consumer.wallet..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("redis..", "com.rabbitmq..", "..common.redis..", "..common.broker..");

  /** All columns in one UPDATE would undo what statements have written meanwhile. */
  @ArchTest
  static final ArchRule entitiesWriteChangedColumnsOnly =
      classes().that().areAnnotatedWith(Entity.class).should().beAnnotatedWith(DynamicUpdate.class);
}
