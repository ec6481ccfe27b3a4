package dev.faro;

import static java.lang.module.ModuleDescriptor.Requires.Modifier.STATIC;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The library as a module: a caller's module compiles against it and runs, and sees only the API. */
class ModuleTest {
    private static final Path CLASSES = Path.of(
            URI.create(FaroException.class.getProtectionDomain().getCodeSource().getLocation().toString()));

    @TempDir
    Path folder;

    /** The library and its dependencies, without those of the tests. */
    private static String modulePath() throws IOException {
        ModuleDescriptor descriptor = descriptor();
        List<String> names = List.of("flatbuffers-java", "lz4-java", "zstd-jni");
        String jars = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(path -> names.stream().anyMatch(Path.of(path).getFileName().toString()::startsWith))
                .collect(Collectors.joining(File.pathSeparator));
        // The fourth is java.base; a static one need not be there at run time.
        long required = descriptor.requires().stream().filter(each -> !each.modifiers().contains(STATIC)).count();
        assertEquals(names.size() + 1, required, descriptor.toString());
        return CLASSES + File.pathSeparator + jars;
    }

    private static ModuleDescriptor descriptor() throws IOException {
        try (var file = Files.newInputStream(CLASSES.resolve("module-info.class"))) {
            return ModuleDescriptor.read(file);
        }
    }

    /** Compiles a module of one class; returns the compiler's output. */
    private String compile(String body) throws IOException {
        Files.writeString(folder.resolve("module-info.java"), "module caller { requires dev.faro; }");
        Path source = Files.createDirectories(folder.resolve("caller")).resolve("Main.java");
        Files.writeString(source, "package caller;\npublic class Main {\n" + body + "\n}\n");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter output = new StringWriter();
        compiler.getTask(output, null, null,
                List.of("-d", folder.resolve("out").toString(), "--module-path", modulePath()), null,
                compiler.getStandardFileManager(null, null, null)
                        .getJavaFileObjects(folder.resolve("module-info.java"), source)).call();
        return output.toString();
    }

    @Test
    void aCallersModuleWritesAndReads() throws Exception {
        String output = compile("""
                public static void main(String[] arguments) throws Exception {
                    var name = java.nio.file.Path.of(arguments[0]);
                    try (var writer = dev.faro.writer.Writer.create(name,
                            new dev.faro.writer.WriterOptions(2).codec(dev.faro.codec.Codec.ZSTD))) {
                        writer.write(1, java.nio.ByteBuffer.wrap(new byte[5000]));
                        writer.finish();
                    }
                    var options = dev.faro.reader.ReaderOptions.DEFAULT;
                    try (var reader = dev.faro.reader.Reader.open(name, options); var records = reader.records(1)) {
                        records.next();
                        System.out.print(records.record().remaining() + " " + reader.footer().statistics().records(1));
                    }
                }""");
        assertEquals("", output);
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--module-path", folder.resolve("out") + File.pathSeparator + modulePath(), "--module",
                "caller/caller.Main", folder.resolve("written").toString()).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), printed);
        assertEquals("5000 1", printed);
    }

    @Test
    void internalPackagesAreClosed() throws Exception {
        String output = compile("dev.faro.internal.message.Directory directory;");
        assertTrue(output.contains("package dev.faro.internal.message is not visible"), output);
        assertFalse(descriptor().exports().stream().anyMatch(exported -> exported.source().contains("internal")));
    }
}
