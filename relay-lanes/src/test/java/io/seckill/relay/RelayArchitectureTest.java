package io.seckill.relay;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.seckill.testing.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "io.seckill.relay", importOptions = DoNotIncludeTests.class)
class RelayArchitectureTest {

  @ArchTest static final ArchTests rules = ArchTests.in(ArchitectureRules.class);
}
