package dev.faro.flink;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process with the cluster of one shuffle, which waits between runs. */
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
     * @param program the program that runs in it
     * @param work what it runs, as its JSON is
     * @param memory options of the virtual machine
     */
    ShuffleProcess(String shuffle, Path folder, Class<?> program, Object work, List<String> memory)
            throws IOException {
        this.shuffle = shuffle;
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(List.of(java));
        command.addAll(memory);
        OPENED.forEach(name -> command.add("--add-opens=java.base/" + name + "=ALL-UNNAMED"));
        if (System.getProperty("faro.spec") != null) {
            command.add("-Dfaro.spec=" + System.getProperty("faro.spec"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName(), shuffle,
                folder.toString(), mapper.writeValueAsString(work)));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        // The C library has up to eight heaps for each processor. They took 0.7 GB of each process, and six did not fit
        // into 24 GiB.
        builder.environment().put("MALLOC_ARENA_MAX", "1");
        process = builder.start();
        answers = process.inputReader(StandardCharsets.UTF_8);
    }

    /** A process that ended by itself. Its standard error has more, if it had time to say it. */
    static final class EndedException extends IOException {
        private static final long serialVersionUID = 1;
        private final int exitCode;

        EndedException(String shuffle, int exitCode) {
            super(shuffle + ": its process ended early, with exit code " + exitCode);
            this.exitCode = exitCode;
        }

        /** The exit code, or -1 if the process does not end although it gives no answer. */
        int exitCode() {
            return exitCode;
        }
    }

    /** What a process runs. */
    interface Program {
        void run() throws Exception;
    }

    /**
     * Runs the program of such a process, and ends the process: some of Flink's threads do not end. The process that
     * waits for an answer learns of a failure in this way.
     */
    static void runAndExit(Program program) {
        int status = 1;
        try {
            program.run();
            status = 0;
        } catch (Exception | Error e) {
            e.printStackTrace();
        }
        System.exit(status);
    }

    /**
     * Makes it run its work once.
     *
     * @throws EndedException if the process has ended
     */
    <T> T run(Class<T> type) throws IOException {
        String answer = null;
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            answer = answers.readLine();
        } catch (IOException e) {
            // The process has ended.
        }
        // A process that is killed may leave a part of a line.
        if (answer == null || !answer.endsWith("}")) {
            throw new EndedException(shuffle, exitCode());
        }
        return mapper.readValue(answer, type);
    }

    private int exitCode() {
        try {
            return process.waitFor(END_SECONDS, TimeUnit.SECONDS) ? process.exitValue() : -1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    /** Kills the process. */
    void kill() {
        process.destroyForcibly();
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
