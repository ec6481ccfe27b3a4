package dev.faro.rooms.wrong.reader;

import org.junit.jupiter.api.Assertions;

/** Uses a class of another project, as a class that uses an engine would. */
final class UsesAnotherProject {
    private UsesAnotherProject() {}

    static void use() {
        Assertions.assertTrue(true);
    }
}
