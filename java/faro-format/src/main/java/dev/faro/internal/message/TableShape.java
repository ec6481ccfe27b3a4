package dev.faro.internal.message;

import java.util.List;

/**
 * The fields of a table of the schema. The verifier knows no more of {@code schema/faro.fbs} than these shapes.
 *
 * @param fields in the order of their ids
 */
record TableShape(List<Field> fields) {
    static final TableShape SHARED_EXTENT = of(scalar(4), vector(1, 1), scalar(4));
    static final TableShape REGION = of(
            scalar(4), scalar(8), scalar(8), vector(4, 4).must(), scalar(4), vector(4, 4), tables(SHARED_EXTENT),
            vector(32, 8), vector(4, 4));
    static final TableShape STATISTICS =
            of(vector(8, 8), vector(8, 8), vector(8, 8), scalar(8), scalar(8), scalar(8));
    static final TableShape STREAMS = of(vector(4, 4), vector(4, 4), scalar(4), scalar(4));
    static final TableShape PROPERTY = of(string().must(), string().must());
    static final TableShape FOOTER =
            of(vector(32, 8), scalar(8), table(STATISTICS), tables(PROPERTY), string(), vector(16, 8), table(STREAMS));
    static final TableShape SCHEMA = of(vector(1, 1).must());

    enum Type {
        SCALAR, VECTOR, STRING, TABLE, TABLES
    }

    /**
     * One field.
     *
     * @param size of a scalar, its size and alignment; of a vector, the size of an element
     * @param align the alignment of a vector's elements
     * @param table the shape of a table, or of the tables in a vector
     */
    record Field(Type type, int size, int align, TableShape table, boolean required) {
        Field must() {
            return new Field(type, size, align, table, true);
        }

        /** The size of the field in its table, in bytes. It is also the alignment. */
        int inlineSize() {
            return type == Type.SCALAR ? size : 4;
        }
    }

    private static TableShape of(Field... fields) {
        return new TableShape(List.of(fields));
    }

    private static Field scalar(int size) {
        return new Field(Type.SCALAR, size, size, null, false);
    }

    private static Field vector(int size, int align) {
        return new Field(Type.VECTOR, size, align, null, false);
    }

    private static Field string() {
        return new Field(Type.STRING, 1, 1, null, false);
    }

    private static Field table(TableShape shape) {
        return new Field(Type.TABLE, 4, 4, shape, false);
    }

    private static Field tables(TableShape shape) {
        return new Field(Type.TABLES, 4, 4, shape, false);
    }
}
