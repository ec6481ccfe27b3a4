package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.merge.FragmentReader;
import dev.faro.merge.FragmentSummary;
import dev.faro.merge.Fragments;
import dev.faro.merge.Names;
import dev.faro.reader.Reader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/** The operations {@code fragment} and {@code fragments}. */
final class FragmentOperations {
    private FragmentOperations() {}

    static ObjectNode make(JsonNode request) throws FaroException {
        int[] partitions = Request.numbers(request.get("partitions"));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        FragmentSummary summary;
        try (Reader reader = ReadOperation.open(request)) {
            int to = partitions[0] + partitions[1];
            JsonNode numbers = request.get("numbers");
            summary = numbers == null ? Fragments.write(reader, partitions[0], to, bytes)
                    : Fragments.writePart(reader, partitions[0], numbers.get(0).longValue(),
                            numbers.get(1).longValue(), bytes);
        }
        if (summary.blocks() > 0) {
            write(request, bytes.toByteArray());
        }
        return Answers.object().put("blocks", summary.blocks()).put("length", summary.length())
                .put("last", summary.last());
    }

    private static void write(JsonNode request, byte[] bytes) {
        try {
            Files.write(Request.path(request, "path"), bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Names names(JsonNode given) {
        return new Names(given.get("application").textValue(), given.get("shuffle").textValue());
    }

    static ObjectNode makeOfRegion(JsonNode request) throws FaroException {
        byte[] bytes;
        try (Reader reader = ReadOperation.open(request);
                InputStream stream = Fragments.streamRegion(
                        reader, request.get("region").intValue(), names(request.get("names")))) {
            bytes = stream.readAllBytes();
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        write(request, bytes);
        return Answers.object().put("length", bytes.length);
    }

    private static final class Part {
        long first;
        long blocks;
        final MessageDigest hash = Content.newDigest();
    }

    static ObjectNode read(JsonNode request) throws FaroException {
        ObjectNode answer = Answers.object();
        ArrayNode found = answer.putArray("fragments");
        try (FragmentReader fragments = new FragmentReader(
                Files.newInputStream(Request.path(request, "fragment")), Request.limits(request))) {
            while (fragments.nextFragment()) {
                Map<Integer, Part> parts = new TreeMap<>();
                long blocks = 0;
                while (fragments.nextBlock()) {
                    Part part = parts.computeIfAbsent(fragments.partition(), none -> new Part());
                    part.first = part.blocks++ == 0 ? fragments.number() : part.first;
                    blocks++;
                    ByteBuffer head = ByteBuffer.allocate(5).order(ByteOrder.LITTLE_ENDIAN);
                    part.hash.update(head.put((byte) fragments.kind()).putInt(fragments.plainSize()).flip());
                    part.hash.update(fragments.payload());
                }
                ObjectNode of = found.addObject();
                of.set("header", Answers.header(fragments.header()));
                of.put("blocks", blocks).put("last", fragments.isLast());
                ObjectNode partitions = of.putObject("partitions");
                parts.forEach((partition, part) -> partitions.putObject(partition.toString())
                        .put("first", part.first).put("blocks", part.blocks)
                        .put("sha256", HexFormat.of().formatHex(part.hash.digest())));
            }
        } catch (FaroException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return answer;
    }
}
