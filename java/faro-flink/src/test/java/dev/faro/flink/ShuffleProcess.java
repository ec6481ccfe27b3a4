package dev.faro.flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of {@link OneShuffle}, which waits between runs. */
final class ShuffleProcess implements AutoCloseable {
    private static final List<String> OPENED = List.of("java.lang", "java.util", "java.time");
    private static final int END_SECONDS = 10;

    private final ObjectMapper mapper = new ObjectMapper();
    private final String shuffle;
    private final Process process;
    private final BufferedReader answers;

    /**
     * Starts a process.
     *
     * @param shuffle its name
     * @param folder the folder for its files
     * @param jobCase its job
     * @param memory options of the virtual machine
     */
    ShuffleProcess(String shuffle, Path folder, JobCase jobCase, List<String> memory) throws IOException {
        this.shuffle = shuffle;
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(memory);
        OPENED.forEach(name -> command.add("--add-opens=java.base/" + name + "=ALL-UNNAMED"));
        if (System.getProperty("faro.spec") != null) {
            command.add("-Dfaro.spec=" + System.getProperty("faro.spec"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), OneShuffle.class.getName(), shuffle,
                folder.toString(), mapper.writeValueAsString(jobCase)));
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Makes it run its job once. */
    OneShuffle.Answer run() throws IOException {
        String answer = null;
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            answer = answers.readLine();
        } catch (IOException e) {
            // The process has ended.
        }
        if (answer == null) {
            throw new IOException(shuffle + ": its process ended early");
        }
        return mapper.readValue(answer, OneShuffle.Answer.class);
    }

    /** Ends the process. */
    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
