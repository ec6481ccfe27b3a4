package dev.faro.internal.message;

import dev.faro.BlockKind;

/** The kinds of messages, each with the kind of its block, its identifier and the shape of its root table. */
public enum MessageKind {
    /** A region. */
    REGION(BlockKind.REGION, "FRRG", TableShape.REGION),
    /** The footer. */
    FOOTER(BlockKind.FOOTER, "FRFT", TableShape.FOOTER),
    /** The schema of a file with framing arrow. */
    SCHEMA(BlockKind.SCHEMA, "FRSC", TableShape.SCHEMA);

    private final int blockKind;
    private final String identifier;
    private final TableShape root;

    MessageKind(int blockKind, String identifier, TableShape root) {
        this.blockKind = blockKind;
        this.identifier = identifier;
        this.root = root;
    }

    /** The kind of the block that contains the message. */
    public int blockKind() {
        return blockKind;
    }

    String identifier() {
        return identifier;
    }

    /** The identifier as a little-endian number, as in bytes 4 to 7. */
    int identifierNumber() {
        int number = 0;
        for (int i = 3; i >= 0; i--) {
            number = number << 8 | identifier.charAt(i);
        }
        return number;
    }

    TableShape root() {
        return root;
    }
}
