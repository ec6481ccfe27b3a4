package dev.faro.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;

/**
 * The files of a merge, and what is done to them.
 *
 * @param files all of them, in the order of their names
 * @param random decides where
 * @param trial counts what was done
 */
record HarmedFiles(List<Path> files, Random random, HarmfulManager.Trial trial) {
    private static final int PAGE = 4096;

    List<Path> all(String ending) {
        return files.stream().filter(file -> file.toString().endsWith(ending)).toList();
    }

    Path one(String ending) {
        List<Path> of = all(ending);
        return of.get(random.nextInt(of.size()));
    }

    /** The files that say which map tasks a chunk has: those of Spark, or Faro's indexes. */
    List<Path> metas() {
        List<Path> stock = all(".meta");
        return stock.isEmpty() ? all(".index") : stock;
    }

    void flip(Path file) {
        change(file, bytes -> {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            return bytes;
        });
    }

    void cut(Path file) {
        change(file, bytes -> Arrays.copyOf(bytes, random.nextInt(bytes.length)));
    }

    void zeroPage(Path file) {
        change(file, bytes -> {
            int page = random.nextInt(bytes.length / PAGE + 1) * PAGE;
            Arrays.fill(bytes, page, Math.min(bytes.length, page + PAGE), (byte) 0);
            return bytes;
        });
    }

    void remove(Path file) {
        try {
            Files.delete(file);
            trial.happened();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Gives the files of the second partition the bytes of the first. */
    void mixUp() {
        List<Path> data = all(".data");
        if (data.size() < 2) {
            return;
        }
        String from = stem(data.get(0));
        String to = stem(data.get(1));
        try {
            for (Path file : files) {
                if (stem(file).equals(from)) {
                    String wanted = to + file.getFileName().toString().substring(from.length());
                    Path target = files.stream().filter(other -> other.getFileName().toString().equals(wanted)).findAny()
                            .orElseThrow();
                    Files.copy(file, target, StandardCopyOption.REPLACE_EXISTING);
                    trial.happened();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String stem(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.lastIndexOf('.'));
    }

    private void change(Path file, UnaryOperator<byte[]> change) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            if (bytes.length > 0) {
                Files.write(file, change.apply(bytes));
                trial.happened();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
