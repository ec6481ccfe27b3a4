package dev.faro;

import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The rooms of the library (docs/architecture.md): a class uses only classes of its room and of rooms below, and
 * classes form no circles. A room is a package of the API with the internal package of the same name.
 */
class RoomsTest {
    /** From the bottom up, as in docs/architecture.md; the first is the root package. */
    private static final List<String> ROOMS = List.of("error", "generated", "bytes", "codec", "storage", "block",
            "message", "index", "plan", "reader", "follow", "check", "sortbuffer", "writer", "repair", "scheduler",
            "key");

    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.faro");

    private static String[] packagesOf(String room) {
        return room.equals("error") ? new String[] {"dev.faro"}
                : new String[] {"dev.faro." + room, "dev.faro.internal." + room};
    }

    @Test
    void everyPackageIsARoom() {
        Set<String> known = new TreeSet<>();
        ROOMS.forEach(room -> known.addAll(List.of(packagesOf(room))));
        Set<String> unknown = new TreeSet<>();
        LIBRARY.forEach(each -> unknown.add(each.getPackageName()));
        assertTrue(unknown.size() > ROOMS.size(), unknown.toString());
        unknown.removeAll(known);
        assertEquals(Set.of(), unknown);
    }

    @Test
    void arrowsRunOneWay() {
        LayeredArchitecture plan = layeredArchitecture().consideringOnlyDependenciesInLayers();
        for (String room : ROOMS) {
            plan = plan.layer(room).definedBy(packagesOf(room));
        }
        for (int i = 1; i < ROOMS.size(); i++) {
            plan = plan.whereLayer(ROOMS.get(i - 1))
                    .mayOnlyBeAccessedByLayers(ROOMS.subList(i, ROOMS.size()).toArray(String[]::new));
        }
        plan.whereLayer(ROOMS.get(ROOMS.size() - 1)).mayNotBeAccessedByAnyLayer().check(LIBRARY);
    }

    @Test
    void noCircles() {
        slices().assignedFrom(new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass each) {
                return SliceIdentifier.of(topLevel(each).getFullName());
            }

            @Override
            public String getDescription() {
                return "the classes of the library, each with its nested classes";
            }
        }).should().beFreeOfCycles().check(LIBRARY);
    }

    private static JavaClass topLevel(JavaClass each) {
        return each.getEnclosingClass().map(RoomsTest::topLevel).orElse(each);
    }
}
