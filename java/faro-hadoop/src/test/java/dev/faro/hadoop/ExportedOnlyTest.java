package dev.faro.hadoop;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** The module uses only what faro-format exports. The class path alone does not keep it to that. */
class ExportedOnlyTest {
    @Test
    void theModuleUsesNothingInternal() {
        noClasses().should().dependOnClassesThat().resideInAPackage("dev.faro.internal..")
                .check(new ClassFileImporter()
                        .withImportOption(new ImportOption.DoNotIncludeTests())
                        .importPackages("dev.faro.hadoop"));
    }
}
