package io.seckill.support;

import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.ArchTests;
import io.seckill.testing.architecture.ArchitectureRules;

@AnalyzeClasses(packages = "io.seckill.support", importOptions = DoNotIncludeTests.class)
class SupportArchitectureTest {

  @ArchTest static final ArchTests rules = ArchTests.in(ArchitectureRules.class);
}
