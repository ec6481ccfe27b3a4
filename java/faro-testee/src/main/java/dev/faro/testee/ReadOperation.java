package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.BlockKind;
import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.Framing;
import dev.faro.index.Footer;
import dev.faro.index.Region;
import dev.faro.index.Streams;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.Lookup;
import dev.faro.reader.PartitionReader;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The operation {@code read}, and the reading part of {@code follow}. */
final class ReadOperation {
    private ReadOperation() {}

    static ObjectNode perform(JsonNode request) throws FaroException {
        try (Reader reader = open(request)) {
            return describe(reader, request);
        }
    }

    static Reader open(JsonNode request) throws FaroException {
        ReaderOptions options = ReaderOptions.DEFAULT
                .withLimits(Request.limits(request))
                .withVerify(request.path("verify").asBoolean(true))
                .withLookup(Lookup.valueOf(request.path("lookup").asText("full").toUpperCase(Locale.ROOT)));
        if (StoredFiles.areWanted()) {
            return Reader.openStored(StoredFiles.load(request), options);
        }
        Path single = Request.path(request, "single");
        return single == null
                ? Reader.openPair(Request.path(request, "data"), Request.path(request, "index"), options)
                : Reader.openSingle(single, options);
    }

    /** The answer, with the partitions or the range that the request names. */
    static ObjectNode describe(PartitionReader reader, JsonNode request) throws FaroException {
        ObjectNode answer = Answers.object();
        answer.set("header", Answers.header(reader.header()));
        answer.put("regions", reader.regionCount());
        Footer footer = reader.footer();
        ObjectNode properties = answer.putObject("properties");
        if (footer != null) {
            footer.properties().forEach(properties::put);
        }
        answer.put("created_by", footer == null ? null : footer.createdBy());
        answer.put("statistics", footer != null && footer.statistics() != null);
        if (reader.header().selective()) {
            answer.set("streams", streams(reader.header(), footer == null ? null : footer.streams()));
        }
        if (reader.header().hasDictionaries()) {
            ArrayNode dictionaries = answer.putArray("dictionaries");
            for (int i = 0; i < reader.dictionaryCount(); i++) {
                ObjectNode dictionary = dictionaries.addObject();
                dictionary.put("offset", reader.dictionaryOffset(i)).put("size", reader.dictionarySize(i));
            }
        }
        if (request.has("range")) {
            answer.set("range", range(reader, request.get("range"), false));
        } else if (request.has("by_partition")) {
            answer.set("by_partition", range(reader, request.get("by_partition"), true));
        } else if (request.has("partitions")) {
            ObjectNode partitions = answer.putObject("partitions");
            for (JsonNode number : request.get("partitions")) {
                partitions.set(number.asText(), partition(reader, Request.saturated(number)));
            }
        } else {
            answer.set("partitions", all(reader));
        }
        return answer;
    }

    /** The next sequence and the missing blocks of the shared stream, and of each own stream that had blocks. */
    private static ObjectNode streams(FileHeader header, Streams streams) {
        if (streams == null) {
            return null;
        }
        ObjectNode answer = Answers.object();
        answer.putArray("shared").add(streams.sharedNext()).add(streams.sharedMissing());
        ObjectNode own = answer.putObject("own");
        for (int i = 0; i < header.partitionCount(); i++) {
            int partition = header.firstPartition() + i;
            if (streams.next(partition) > 0) {
                own.putArray("" + partition).add(streams.next(partition)).add(streams.missing(partition));
            }
        }
        return answer;
    }

    private static ObjectNode range(PartitionReader reader, JsonNode range, boolean byPartition) {
        ObjectNode answer = Answers.object();
        Content content = new Content();
        int from = Request.saturated(range.get(0));
        int to = Request.saturated(range.get(1));
        try (BlockCursor blocks = byPartition ? reader.byPartition(from, to) : reader.range(from, to)) {
            while (blocks.next()) {
                if (byPartition) {
                    content.begin(blocks.reading());
                }
                content.add(blocks.partition(), blocks.kind(), blocks.payload());
            }
        } catch (FaroException e) {
            answer.set("error", Answers.error(e));
            return answer;
        }
        answer.put("blocks", content.blocks());
        answer.put("sha256", content.sha256());
        return answer;
    }

    private static ObjectNode partition(PartitionReader reader, int partition) {
        ObjectNode answer = Answers.object();
        Content content = new Content();
        boolean records = reader.header().framing() == Framing.RECORDS;
        Map<Integer, Long> kinds = new TreeMap<>();
        long plainBytes = 0;
        long recordCount = 0;
        long storedBytes;
        try (BlockCursor blocks = reader.partition(partition)) {
            while (blocks.next()) {
                ByteBuffer payload = blocks.framedPayload();
                content.add(blocks.kind(), payload);
                kinds.merge(blocks.kind(), 1L, Long::sum);
                plainBytes += payload.remaining();
                if (records && blocks.kind() == BlockKind.DATA) {
                    recordCount += countRecords(payload);
                }
            }
            storedBytes = reader.storedBytes(partition);
        } catch (FaroException e) {
            answer.set("error", Answers.error(e));
            return answer;
        }
        answer.put("blocks", content.blocks());
        ObjectNode kindsAnswer = answer.putObject("kinds");
        kinds.forEach((kind, count) -> kindsAnswer.put(kind.toString(), count));
        answer.put("plain_bytes", plainBytes);
        answer.put("records", records ? recordCount : null);
        answer.put("stored_bytes", new BigInteger(Long.toUnsignedString(storedBytes)));
        answer.put("sha256", content.sha256());
        return answer;
    }

    /** Counts the records of a payload with checked framing (FRM-2). */
    private static long countRecords(ByteBuffer payload) {
        long count = 0;
        for (int at = 0; at < payload.limit(); at += 4 + payload.getInt(at)) {
            count++;
        }
        return count;
    }

    /** The answers for each partition that has a block or an error. */
    private static ObjectNode all(PartitionReader reader) {
        ObjectNode answer = Answers.object();
        FileHeader header = reader.header();
        int end = header.firstPartition() + header.partitionCount();
        TreeSet<Integer> readers = new TreeSet<>();
        try {
            for (int i = 0; i < reader.regionCount(); i++) {
                addReaders(reader.region(i), header.firstPartition(), end, readers);
            }
        } catch (FaroException e) {
            // A fault of a region message concerns every partition, with or without blocks.
            for (int partition = header.firstPartition(); partition < end; partition++) {
                readers.add(partition);
            }
        }
        for (int partition : readers) {
            answer.set(Integer.toString(partition), partition(reader, partition));
        }
        return answer;
    }

    private static void addReaders(Region region, int from, int to, TreeSet<Integer> readers) {
        for (int slot = 0; slot < region.slots(); slot++) {
            if (region.start(slot) < region.start(slot + 1)) {
                readers.add(region.partitionOf(slot));
            }
        }
        for (int shared = 0; shared < region.sharedCount(); shared++) {
            int member = region.nextMember(shared, from, to);
            while (member >= 0) {
                readers.add(member);
                member = region.nextMember(shared, member + 1, to);
            }
        }
    }
}
