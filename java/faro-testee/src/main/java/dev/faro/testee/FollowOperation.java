package dev.faro.testee;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.FaroException;
import dev.faro.follow.Follower;
import dev.faro.reader.BlockCursor;
import dev.faro.reader.ReaderOptions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The operation {@code follow}, with the open followers. */
final class FollowOperation {
    private final Map<String, Follower> followers = new HashMap<>();
    /** The open watches, by follower and partition. */
    private final Map<Follower, Map<Integer, BlockCursor>> watches = new HashMap<>();

    ObjectNode perform(JsonNode request) throws FaroException {
        String handle = request.get("handle").textValue();
        String action = request.get("action").textValue();
        if (action.equals("open")) {
            Follower opened = open(request);
            close(handle);
            followers.put(handle, opened);
            return Answers.object();
        }
        if (action.equals("close")) {
            close(handle);
            return Answers.object();
        }
        Follower follower = followers.get(handle);
        if (follower == null) {
            throw FaroException.invalidArgument("an open follower", handle);
        }
        return switch (action) {
            case "poll" -> poll(follower);
            case "watch" -> watch(follower, Request.saturated(request.get("partition")));
            default -> ReadOperation.describe(follower, request);
        };
    }

    private ObjectNode watch(Follower follower, int partition) throws FaroException {
        Map<Integer, BlockCursor> open = watches.computeIfAbsent(follower, which -> new HashMap<>());
        BlockCursor watch = open.get(partition);
        if (watch == null) {
            watch = follower.watch(partition);
            open.put(partition, watch);
        }
        Content content = new Content();
        while (watch.next()) {
            content.add(watch.kind(), watch.payload());
        }
        return Answers.object().put("blocks", content.blocks()).put("sha256", content.sha256());
    }

    private static Follower open(JsonNode request) throws FaroException {
        ReaderOptions options = ReaderOptions.DEFAULT.withLimits(Request.limits(request));
        Path single = Request.path(request, "single");
        return single == null
                ? Follower.openPair(Request.path(request, "data"), Request.path(request, "index"), options)
                : Follower.openSingle(single, options);
    }

    private static ObjectNode poll(Follower follower) throws FaroException {
        boolean finished = follower.poll();
        ObjectNode answer = Answers.object();
        answer.put("regions", follower.regionCount());
        answer.put("finished", finished);
        return answer;
    }

    private void close(String handle) throws FaroException {
        Follower follower = followers.remove(handle);
        if (follower != null) {
            watches.remove(follower);
            follower.close();
        }
    }
}
