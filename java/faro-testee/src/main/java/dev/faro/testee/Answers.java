package dev.faro.testee;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.FileHeader;

/** Parts that several answers share. */
final class Answers {
    private Answers() {}

    static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** The description of this testee. The version of the specification is the library's. */
    static ObjectNode hello() {
        ObjectNode answer = object();
        answer.put("name", "faro-format");
        answer.put("version", "0.1.0-SNAPSHOT");
        answer.put("language", "Java");
        answer.put("spec", "1.0-draft");
        answer.put("protocol", 1);
        answer.putArray("features").add("lz4").add("zstd").add("selective").add("arrow").add("dictionaries")
                .add("by-partition").add("direct-lookup");
        answer.putArray("operations").add("hello").add("read").add("write").add("check").add("repair").add("recover")
                .add("clean").add("follow").add("hybrid").add("fragment").add("region_fragments").add("fragments").add("merge").add("provenance")
                .add("read_merged").add("file_id").add("plan_pushes").add("stop");
        return answer;
    }

    /** The member {@code error} of an answer or of a partition. */
    static ObjectNode error(FaroException error) {
        ObjectNode answer = fault(error);
        answer.put("expected", error.expected());
        answer.put("found", error.found());
        return answer;
    }

    /** The member {@code fault} of an answer of {@code repair}: an error without its texts. */
    static ObjectNode fault(FaroException error) {
        ObjectNode answer = object();
        answer.put("code", error.code().toString());
        answer.put("file", error.role() == null ? null : error.role().toString());
        if (error.offset() == FaroException.NO_OFFSET) {
            answer.putNull("offset");
        } else {
            answer.put("offset", error.offset());
        }
        return answer;
    }

    static ObjectNode header(FileHeader header) {
        ObjectNode answer = object();
        answer.put("kind", header.kind().number());
        answer.put("version_minor", header.versionMinor());
        answer.put("framing", header.framing().number());
        answer.put("partition_count", header.partitionCount());
        answer.put("first_partition", header.firstPartition());
        answer.put("reader_features", Integer.toUnsignedLong(header.readerFeatures()));
        answer.put("writer_features", Integer.toUnsignedLong(header.writerFeatures()));
        answer.put("producer", Long.toUnsignedString(header.producer()));
        answer.put("attempt", Long.toUnsignedString(header.attempt()));
        answer.put("file_id", header.fileId().toString().replace("-", ""));
        return answer;
    }
}
