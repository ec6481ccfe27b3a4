package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.storage.PublishingLock;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Another JVM, which executes requests, one a line, and can be killed. */
public final class OtherProcess implements AutoCloseable {
    private final Process process;
    private final PrintStream requests;
    private final BufferedReader answers;

    private OtherProcess(Process process) {
        this.process = process;
        this.requests = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts one. */
    public static OtherProcess start() throws IOException {
        return new OtherProcess(new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"),
                OtherProcess.class.getName()).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    /** Sends a request. */
    public void tell(Object... words) {
        List<String> texts = new ArrayList<>();
        for (Object word : words) {
            texts.add(word.toString());
        }
        requests.println(String.join("\t", texts));
    }

    /** The answer to a request; null if the process died. */
    public String answer() throws IOException {
        return answers.readLine();
    }

    /** Sends a request, and waits for the answer. */
    public String ask(Object... words) throws IOException {
        tell(words);
        return answer();
    }

    /** Kills the process, which gets no chance to clean up. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** The main method of the other process. */
    public static void main(String[] none) throws Exception {
        List<Object> kept = new ArrayList<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t");
            String answer;
            try {
                answer = perform(words, kept);
            } catch (FaroException e) {
                answer = e.code().toString();
            }
            System.out.println(answer);
        }
    }

    private static String perform(String[] words, List<Object> kept) throws IOException {
        Path path = Path.of(words[1]);
        switch (words[0]) {
            case "probe":
                try (FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
                    return channel.tryLock() == null ? "locked" : "free";
                }
            case "hold":
                FileChannel held = FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
                kept.add(held);
                return held.tryLock() == null ? "refused" : "held";
            case "release":
                for (Object one : kept) {
                    ((FileChannel) one).close();
                }
                return "released";
            case "write":
                kept.add(write(path, words));
                return "written";
            case "count":
                count(path, Integer.parseInt(words[2]));
                return "counted";
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    /**
     * Starts a writer that does not finish; the words are NAME, file_id, layout, whether to follow, number of regions.
     */
    private static Writer write(Path name, String[] words) throws FaroException {
        WriterOptions options = new WriterOptions(3).fileId(UUID.fromString(words[2])).layout(Layout.valueOf(words[3]))
                .follow(Boolean.parseBoolean(words[4]));
        Writer writer = Writer.create(name, options);
        for (int i = 0; i < Integer.parseInt(words[5]); i++) {
            writer.write(i % 3, Outputs.bytes("record " + i));
            writer.broadcast(Outputs.bytes("all " + i));
            writer.flush();
        }
        // A record of the region that is not committed.
        writer.write(0, Outputs.bytes("not committed"));
        return writer;
    }

    /** Adds one to the number in a file repeatedly, each time with the publishing lock. */
    public static void count(Path file, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            PublishingLock lock = new PublishingLock(
                    FileRole.DATA, file.resolveSibling("n.faro-lock"), Duration.ofSeconds(60));
            lock.holding(() -> {
                long number = Long.parseLong(Files.readString(file)) + 1;
                Files.writeString(file, Long.toString(number));
            });
        }
    }
}
