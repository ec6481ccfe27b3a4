package dev.faro.testee;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** The Java implementation as a child process of the conformance runner. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws IOException {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode reply = json.createObjectNode();
            reply.set("id", json.readTree(line).get("id"));
            reply.put("unsupported", true);
            System.out.println(json.writeValueAsString(reply));
        }
    }
}
