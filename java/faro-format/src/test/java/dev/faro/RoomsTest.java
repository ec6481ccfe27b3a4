package dev.faro;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The rooms of the library (docs/architecture.md): a class uses only classes of its room and of rooms below, and
 * classes form no circles. A room is a package of the API with the internal package of the same name. No class uses an
 * engine, or another project. {@code dev.faro.rooms.wrong} has classes that break each rule.
 */
class RoomsTest {
    /** From the bottom up, as in docs/architecture.md; the first is the root package. */
    private static final List<String> ROOMS = List.of("error", "generated", "bytes", "codec", "storage", "block",
            "message", "index", "plan", "reader", "follow", "check", "sortbuffer", "writer", "hybrid", "repair", "merge",
            "scheduler", "key");
    /** What the library may use: itself, the JDK, and the libraries that its module requires. */
    private static final String[] USABLE = {
        "dev.faro..", "java..", "com.google.flatbuffers..", "com.github.luben.zstd..", "net.jpountz..", "jdk.jfr.."
    };

    private static final String ROOT = "dev.faro";
    private static final JavaClasses LIBRARY = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);
    private static final String WRONG_ROOT = "dev.faro.rooms.wrong";
    private static final JavaClasses WRONG = new ClassFileImporter().importPackages(WRONG_ROOT);

    private static String[] packagesOf(String root, String room) {
        return room.equals("error") ? new String[] {root}
                : new String[] {root + "." + room, root + ".internal." + room};
    }

    private static LayeredArchitecture arrowsRunOneWay(String root) {
        LayeredArchitecture plan = layeredArchitecture().consideringOnlyDependenciesInLayers();
        for (String room : ROOMS) {
            plan = plan.layer(room).definedBy(packagesOf(root, room));
        }
        for (int i = 1; i < ROOMS.size(); i++) {
            plan = plan.whereLayer(ROOMS.get(i - 1))
                    .mayOnlyBeAccessedByLayers(ROOMS.subList(i, ROOMS.size()).toArray(String[]::new));
        }
        return plan.whereLayer(ROOMS.get(ROOMS.size() - 1)).mayNotBeAccessedByAnyLayer();
    }

    private static ArchRule noCircles() {
        return slices().assignedFrom(new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass each) {
                return SliceIdentifier.of(topLevel(each).getFullName());
            }

            @Override
            public String getDescription() {
                return "the classes of the library, each with its nested classes";
            }
        }).should().beFreeOfCycles();
    }

    private static JavaClass topLevel(JavaClass each) {
        return each.getEnclosingClass().map(RoomsTest::topLevel).orElse(each);
    }

    private static ArchRule noEngine() {
        return classes().should().onlyDependOnClassesThat().resideInAnyPackage(USABLE);
    }

    @Test
    void everyPackageIsARoom() {
        Set<String> known = new TreeSet<>();
        ROOMS.forEach(room -> known.addAll(List.of(packagesOf(ROOT, room))));
        Set<String> unknown = new TreeSet<>();
        LIBRARY.forEach(each -> unknown.add(each.getPackageName()));
        assertTrue(unknown.size() > ROOMS.size(), unknown.toString());
        unknown.removeAll(known);
        assertEquals(Set.of(), unknown);
    }

    /** The rooms of each row of the page, in Java's column. The root package has the first row and the file header. */
    private static List<Set<String>> rowsOfThePage() throws IOException {
        return Files.readAllLines(Path.of("../../docs/architecture.md")).stream()
                .filter(line -> line.startsWith("| "))
                .dropWhile(line -> !line.contains("Java (`dev.faro`)"))
                .skip(1)
                .takeWhile(line -> line.split("\\|").length > 6)
                .map(line -> Pattern.compile("`(?:internal\\.)?([a-z]+)`").matcher(line.split("\\|")[5]).results()
                        .map(name -> name.group(1)).collect(Collectors.toSet()))
                .filter(row -> !row.isEmpty())
                .toList();
    }

    @Test
    void thePageHasTheSameRooms() throws IOException {
        Iterator<String> rooms = ROOMS.stream().filter(room -> !Set.of("error", "generated").contains(room)).iterator();
        for (Set<String> row : rowsOfThePage()) {
            Set<String> here = new TreeSet<>();
            while (rooms.hasNext() && here.size() < row.size()) {
                here.add(rooms.next());
            }
            assertEquals(row, here);
        }
        assertFalse(rooms.hasNext(), () -> rooms.next() + " is not on the page");
    }

    @Test
    void theLibraryKeepsTheRules() {
        arrowsRunOneWay(ROOT).check(LIBRARY);
        noCircles().check(LIBRARY);
        noEngine().check(LIBRARY);
    }

    @Test
    void theRulesFindWhatBreaksThem() {
        assertFinds(arrowsRunOneWay(WRONG_ROOT).withOptionalLayers(true), "wrong.bytes.WrongArrow");
        assertFinds(noCircles(), "wrong.reader.CircleStart");
        assertFinds(noEngine(), "wrong.reader.UsesAnotherProject");
    }

    /** Expects one or more faults, each of which names the class. */
    private static void assertFinds(ArchRule rule, String name) {
        List<String> faults = rule.evaluate(WRONG).getFailureReport().getDetails();
        assertFalse(faults.isEmpty(), rule.getDescription());
        faults.forEach(fault -> assertTrue(fault.contains(name), fault));
    }
}
