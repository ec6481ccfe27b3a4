package dev.faro;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The column for Java of docs/api.md names each public type, method and constant that the module exports, and nothing
 * else, except for what {@link #isLeftOut} or {@link #DETAILS} leaves out. A constructor has the name of its type.
 */
class ApiPageTest {
    private static final Path PAGE = Path.of("../../docs/api.md");
    private static final Path CLASSES = Path.of(
            URI.create(FaroException.class.getProtectionDomain().getCodeSource().getLocation().toString()));
    /** Details of types that the page names. The documentation of the type has them. */
    private static final Map<String, Set<String>> DETAILS = Map.ofEntries(
            Map.entry("BlockKind", Set.of("FIRST_OF_APPLICATION", "LAST_OF_APPLICATION", "FIRST_SKIPPABLE", "isEvent",
                    "isMetadata", "isPartitionKind")),
            Map.entry("Codec", Set.of("number", "of")),
            Map.entry("DictionaryDigest", Set.of("LEAST")),
            Map.entry("Encoder", Set.of("SMALL_BLOCK")),
            Map.entry("FaroException", Set.of("NO_OFFSET", "again", "inStorage", "invalidArgument", "io", "ioInStorage",
                    "limitExceeded")),
            Map.entry("FileHeader", Set.of("DICTIONARIES", "MAX_PARTITIONS", "SELECTIVE", "SIZE", "has",
                    "hasDictionaries", "newerMinor", "selective", "withKind")),
            Map.entry("FileKind", Set.of("number", "of")),
            Map.entry("Framing", Set.of("number", "of")),
            Map.entry("LocalFile", Set.of("name", "of", "read", "size")),
            Map.entry("MemoryFile", Set.of("name", "read", "readBytes", "size")),
            Map.entry("MemoryDestination", Set.of("create", "taken")),
            Map.entry("PushPlan", Set.of("firstPartition", "largestPartition", "pushSize")),
            Map.entry("RangeRead", Set.of("next", "offset", "target")),
            Map.entry("Region", Set.of("dataEnd", "dataOffset", "firstBlock", "isForAll", "isMember", "nextMember",
                    "partitionOf", "sequence", "sharedCount", "sharedEnd", "sharedFirstBlock", "sharedStart",
                    "slotOf", "slots", "start", "storedBytes")),
            Map.entry("SchedulerOptions", Set.of("MIN_SIZE")),
            Map.entry("StoredBlock", Set.of("codec", "dictionary", "kind", "payload", "plainSize")),
            Map.entry("StoredOutput", Set.of("data", "index", "isSingle")),
            Map.entry("Summary", Set.of("blocks", "dataBytes", "fileId", "files", "indexBytes", "layout", "names",
                    "regions",
                    "statistics")),
            Map.entry("Sweep.Request", Set.of("bytes", "end", "owner", "start")),
            // For other packages of the library, as LocalFile.of. The types in their signatures are not exported.
            Map.entry("BlockCursor", Set.of("block")),
            Map.entry("PartitionReader", Set.of("output")),
            Map.entry("RegionCache", Set.of("store")),
            Map.entry("Follower", Set.of("of")),
            Map.entry("Writer", Set.of("ofImage")),
            Map.entry("Reader", Set.of("of", "output")));

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

    /** The public types that the module exports, with their nested types. */
    private static List<Class<?>> exported() throws Exception {
        ModuleDescriptor module;
        try (var file = Files.newInputStream(CLASSES.resolve("module-info.class"))) {
            module = ModuleDescriptor.read(file);
        }
        List<Class<?>> found = new ArrayList<>();
        for (ModuleDescriptor.Exports each : module.exports()) {
            try (Stream<Path> files = Files.list(CLASSES.resolve(each.source().replace('.', '/')))) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    String name = file.getFileName().toString().replace(".class", "");
                    if (name.matches("[A-Z]\\w*")) {
                        addPublic(Class.forName(each.source() + "." + name), found);
                    }
                }
            }
        }
        return found;
    }

    private static void addPublic(Class<?> type, List<Class<?>> found) {
        if (Modifier.isPublic(type.getModifiers())) {
            found.add(type);
            Arrays.stream(type.getDeclaredClasses()).forEach(nested -> addPublic(nested, found));
        }
    }

    private static String nameOf(Class<?> type) {
        return type.getCanonicalName().substring(type.getPackageName().length() + 1);
    }

    /** The public methods and constants of a type. */
    private static List<Member> members(Class<?> type) {
        return Stream.<Member>concat(Arrays.stream(type.getDeclaredMethods()), Arrays.stream(type.getDeclaredFields()))
                .filter(member -> Modifier.isPublic(member.getModifiers()) && !member.isSynthetic()).toList();
    }

    private static boolean isLeftOut(Class<?> type, Member member) {
        String name = member.getName();
        boolean takesNothing = member instanceof Method method && method.getParameterCount() == 0;
        // What every type that can be closed has, every object, every enum, every record, and every exception.
        return takesNothing && name.equals("close")
                || type.isEnum() && (member instanceof Field || Set.of("values", "valueOf").contains(name))
                || Set.of("equals", "hashCode", "toString").contains(name)
                || type.isRecord() && Arrays.stream(type.getRecordComponents())
                        .anyMatch(component -> component.getName().equals(name))
                || Throwable.class.isAssignableFrom(type) && takesNothing
                // The options, which the documentation of their type describes.
                || isOptions(type) && (name.equals("DEFAULT") || !Modifier.isStatic(member.getModifiers()))
                || DETAILS.getOrDefault(nameOf(type), Set.of()).contains(name);
    }

    private static boolean isOptions(Class<?> type) {
        return type == Limits.class || type.getSimpleName().endsWith("Options");
    }

    @Test
    void thePageNamesExactlyWhatIsExported() throws Exception {
        Set<String> exportedNames = new TreeSet<>();
        Set<String> wanted = new TreeSet<>();
        for (Class<?> type : exported()) {
            String name = nameOf(type);
            exportedNames.add(name);
            wanted.add(name);
            for (Member member : members(type)) {
                exportedNames.add(name + "." + member.getName());
                if (!isLeftOut(type, member)) {
                    wanted.add(name + "." + member.getName());
                }
            }
        }
        Set<String> named = named();
        Set<String> missing = new TreeSet<>(wanted);
        missing.removeIf(name -> named.stream().anyMatch(each -> each.equals(name) || each.startsWith(name + ".")));
        Set<String> unknown = new TreeSet<>(named);
        unknown.removeAll(exportedNames);
        assertEquals(List.of(Set.of(), Set.of()), List.of(missing, unknown), "not on the page, and not exported");
    }

    /** An entry that no longer leaves anything out is removed. */
    @Test
    void detailsAreExportedAndNotOnThePage() throws Exception {
        Set<String> exportedNames = new TreeSet<>();
        for (Class<?> type : exported()) {
            members(type).forEach(member -> exportedNames.add(nameOf(type) + "." + member.getName()));
        }
        Set<String> details = new TreeSet<>();
        DETAILS.forEach((type, names) -> names.forEach(name -> details.add(type + "." + name)));
        exportedNames.removeAll(named());
        details.removeAll(exportedNames);
        assertEquals(Set.of(), details);
    }
}
