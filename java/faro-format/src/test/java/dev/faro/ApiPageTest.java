package dev.faro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * docs/api.md names what the module exports: each public type, and each method of the types that do some work. Records,
 * enums and options are described in their own documentation.
 */
class ApiPageTest {
    private static final Path PAGE = Path.of("../../docs/api.md");
    private static final Path CLASSES = Path.of(
            URI.create(FaroException.class.getProtectionDomain().getCodeSource().getLocation().toString()));
    /** Methods that are not listed on the page. */
    private static final Set<String> NOT_LISTED = Set.of(
            // Every type that can be opened has it.
            "close",
            // For other packages of the library; the type that it returns is not exported.
            "output");

    /** The names in the column for Java. */
    private static Set<String> named() throws IOException {
        Set<String> names = new TreeSet<>();
        Pattern name = Pattern.compile("`([^`]+)`");
        for (String line : Files.readAllLines(PAGE)) {
            String[] cells = line.split("\\|", -1);
            if (line.startsWith("|") && cells.length == 6) {
                name.matcher(cells[3]).results().forEach(found -> names.add(found.group(1)));
            }
        }
        return names;
    }

    private static List<Class<?>> exported() throws Exception {
        ModuleDescriptor module;
        try (var file = Files.newInputStream(CLASSES.resolve("module-info.class"))) {
            module = ModuleDescriptor.read(file);
        }
        List<Class<?>> found = new java.util.ArrayList<>();
        for (ModuleDescriptor.Exports each : module.exports()) {
            try (Stream<Path> files = Files.list(CLASSES.resolve(each.source().replace('.', '/')))) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    String name = file.getFileName().toString().replace(".class", "");
                    if (name.matches("[A-Z]\\w*")) {
                        found.add(Class.forName(each.source() + "." + name));
                    }
                }
            }
        }
        found.removeIf(type -> !Modifier.isPublic(type.getModifiers()));
        return found;
    }

    private static boolean isDescribedElsewhere(Class<?> type) {
        return type.isEnum() || type.isRecord() || type.isInterface() || Throwable.class.isAssignableFrom(type)
                || type.getSimpleName().endsWith("Options") || type == Limits.class || type == BlockKind.class;
    }

    private static Set<String> calls(Class<?> type) {
        Set<String> calls = new TreeSet<>();
        Arrays.stream(type.getDeclaredMethods())
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .map(Member::getName)
                .filter(name -> !NOT_LISTED.contains(name))
                .forEach(calls::add);
        return calls;
    }

    @Test
    void thePageNamesExactlyWhatIsExported() throws Exception {
        Set<String> exportedNames = new TreeSet<>();
        Set<String> wanted = new TreeSet<>();
        for (Class<?> type : exported()) {
            String name = type.getSimpleName();
            exportedNames.add(name);
            wanted.add(name);
            calls(type).forEach(call -> exportedNames.add(name + "." + call));
            if (!isDescribedElsewhere(type)) {
                calls(type).forEach(call -> wanted.add(name + "." + call));
            }
        }
        Set<String> named = named();
        Set<String> types = new TreeSet<>();
        named.forEach(name -> types.add(name.split("\\.")[0]));
        Set<String> missing = new TreeSet<>(wanted);
        missing.removeAll(named);
        missing.removeAll(types);
        Set<String> unknown = new TreeSet<>(named);
        unknown.removeAll(exportedNames);
        assertEquals(List.of(Set.of(), Set.of()), List.of(missing, unknown), "not on the page, and not exported");
    }
}
