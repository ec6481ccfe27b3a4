package dev.faro.hadoop;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/** A proxy that loses one answer of an HTTP server, which must not check signatures: they are made for another host. */
final class LossyProxy implements AutoCloseable {
    private static final Set<String> OWN = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);

    static {
        OWN.addAll(Set.of("Host", "Content-Length", "Connection", "Expect", "Transfer-Encoding"));
    }

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final String target;
    private final AtomicReference<Predicate<String>> losing = new AtomicReference<>();

    LossyProxy(String target) throws IOException {
        this.target = target;
        this.server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::handle);
        server.start();
    }

    String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Loses the answer to the next request whose method and path match; the request is made. */
    void loseNext(Predicate<String> request) {
        losing.set(request);
    }

    /** Whether the answer was lost. */
    boolean hasLost() {
        return losing.get() == null;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(target + exchange.getRequestURI()))
                    .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
            exchange.getRequestHeaders().forEach((name, values) -> {
                if (!OWN.contains(name)) {
                    values.forEach(value -> request.header(name, value));
                }
            });
            HttpResponse<byte[]> response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            Predicate<String> lost = losing.get();
            if (lost != null && lost.test(exchange.getRequestMethod() + " " + exchange.getRequestURI())
                    && losing.compareAndSet(lost, null)) {
                // The connection ends without an answer.
                return;
            }
            response.headers().map().forEach((name, values) -> {
                if (!OWN.contains(name)) {
                    exchange.getResponseHeaders().put(name, values);
                }
            });
            boolean head = exchange.getRequestMethod().equals("HEAD");
            if (head) {
                response.headers().firstValue("Content-Length")
                        .ifPresent(length -> exchange.getResponseHeaders().set("Content-Length", length));
            }
            byte[] answer = response.body();
            exchange.sendResponseHeaders(response.statusCode(), head || answer.length == 0 ? -1 : answer.length);
            if (!head && answer.length > 0) {
                exchange.getResponseBody().write(answer);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
