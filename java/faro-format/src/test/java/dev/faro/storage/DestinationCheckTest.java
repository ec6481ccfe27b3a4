package dev.faro.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.faro.FileRole;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** The test kit accepts what is right, and refuses each wrong implementation with a message that tells why. */
class DestinationCheckTest {
    /** The number of sizes that the kit writes a pair of. */
    private static final int SIZES = 8;

    private final Map<String, MemoryDestination> made = new HashMap<>();

    private MemoryDestination memory(String name) {
        return made.computeIfAbsent(name, MemoryDestination::new);
    }

    private StoredFile find(String name, FileRole role) {
        return memory(name).find(role).orElse(null);
    }

    @Test
    void memoryKeepsItsPromises() {
        DestinationCheck.check(this::memory, this::find);
        DestinationCheck.check(name -> memory("again" + name), null);
    }

    /** Passes calls on; each wrong implementation overrides one. */
    private static class Passing implements NewFile {
        final NewFile file;

        Passing(NewFile file) {
            this.file = file;
        }

        @Override
        public String name() {
            return file.name();
        }

        @Override
        public void append(ByteBuffer bytes) throws IOException {
            file.append(bytes);
        }

        @Override
        public void sync() throws IOException {
            file.sync();
        }

        @Override
        public void publish(boolean replace) throws IOException {
            file.publish(replace);
        }

        @Override
        public void remove() throws IOException {
            file.remove();
        }

        @Override
        public StoredFile open() throws IOException {
            return file.open();
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    private void refuses(String why, UnaryOperator<NewFile> wrong) {
        made.clear();
        AssertionError e = assertThrows(AssertionError.class,
                () -> DestinationCheck.check(name -> role -> wrong.apply(memory(name).create(role)), this::find), why);
        assertTrue(e.getMessage().contains(why), e.getMessage());
    }

    /** Answers of a destination, of which one is wrong. */
    private record Asked(Destination destination, Function<Optional<String>, Optional<String>> answer)
            implements Destination {
        @Override
        public NewFile create(FileRole role) throws IOException {
            return destination.create(role);
        }

        @Override
        public Optional<String> taken(FileRole role) throws IOException {
            return answer.apply(destination.taken(role));
        }
    }

    private void refusesAnswer(String why, Function<Optional<String>, Optional<String>> answer) {
        made.clear();
        AssertionError e = assertThrows(AssertionError.class,
                () -> DestinationCheck.check(name -> new Asked(memory(name), answer), this::find), why);
        assertTrue(e.getMessage().contains(why), e.getMessage());
    }

    @Test
    void takenNames() {
        refusesAnswer("taken(data) before create returned null", taken -> null);
        refusesAnswer("taken(data) before create returned Optional[a]", taken -> Optional.of("a"));
        boolean[] published = {false};
        refusesAnswer("after publish of a pair returned Optional[a]", taken -> {
            published[0] |= taken.isPresent();
            return published[0] ? Optional.of("a") : taken;
        });
        int[] asked = {0};
        refusesAnswer("taken(index) after remove returned Optional[a]",
                taken -> ++asked[0] == 8 * SIZES + 1 ? Optional.of("a") : taken);
        made.clear();
        DestinationCheck.check(name -> new Asked(memory(name), taken -> Optional.empty()), this::find);
    }

    /** A destination that decides from the beginning whether a file may replace another. */
    private record Decided(Destination destination) implements Destination {
        @Override
        public NewFile create(FileRole role) throws IOException {
            return create(role, false);
        }

        @Override
        public NewFile create(FileRole role, boolean decided) throws IOException {
            return new Passing(destination.create(role)) {
                @Override
                public void publish(boolean replace) throws IOException {
                    assertEquals(decided, replace);
                    super.publish(replace);
                }
            };
        }
    }

    @Test
    void whatIsDecidedEarlyIsNotChanged() {
        DestinationCheck.check(name -> new Decided(memory(name)), this::find);
    }

    @Test
    void namesAndResults() {
        refuses("name() returned null", file -> new Passing(file) {
            @Override
            public String name() {
                return null;
            }
        });
        refuses("open() returned null", file -> new Passing(file) {
            @Override
            public StoredFile open() {
                return null;
            }
        });
        refuses("create(data, false) returned null", file -> null);
        refuses("sync() failed", file -> new Passing(file) {
            @Override
            public void sync() throws IOException {
                throw new IOException("no");
            }
        });
    }

    @Test
    void wrongBytes() {
        refuses("other bytes", file -> new Passing(file) {
            @Override
            public void append(ByteBuffer bytes) throws IOException {
                super.append(bytes.limit(Math.min(bytes.limit(), bytes.position() + 50_000)));
            }
        });
        refuses("other bytes", file -> new Passing(file) {
            private ByteBuffer kept = ByteBuffer.allocate(0);

            @Override
            public void append(ByteBuffer bytes) throws IOException {
                super.append(kept);
                kept = bytes;
            }

            @Override
            public void publish(boolean replace) throws IOException {
                super.append(kept);
                super.publish(replace);
            }
        });
        refuses("close", file -> new Passing(file) {
            private boolean closed;

            @Override
            public StoredFile open() throws IOException {
                StoredFile opened = super.open();
                return new StoredFile() {
                    @Override
                    public long size() throws IOException {
                        return opened.size();
                    }

                    @Override
                    public int read(long offset, ByteBuffer target) throws IOException {
                        if (closed) {
                            throw new IOException("the writer's file is closed");
                        }
                        return opened.read(offset, target);
                    }

                    @Override
                    public String name() {
                        return opened.name();
                    }

                    @Override
                    public void close() {}
                };
            }

            @Override
            public void close() throws IOException {
                closed = true;
                super.close();
            }
        });
    }

    @Test
    void publishing() {
        refuses("found a file before publish", file -> new Passing(file) {
            private boolean shown;

            @Override
            public void append(ByteBuffer bytes) throws IOException {
                super.append(bytes);
                if (!shown) {
                    shown = true;
                    super.publish(true);
                }
            }

            @Override
            public void sync() {}

            @Override
            public void publish(boolean replace) throws IOException {
                if (!shown) {
                    super.publish(replace);
                }
            }
        });
        refuses("find(data) after publish returned null", file -> new Passing(file) {
            @Override
            public void publish(boolean replace) {}

            @Override
            public StoredFile open() {
                return new MemoryFile("m", ByteBuffer.allocate(0));
            }
        });
        refuses("publish(false) replaced an existing file", file -> new Passing(file) {
            @Override
            public void publish(boolean replace) throws IOException {
                super.publish(true);
            }
        });
        refuses("did not say that the name exists", file -> new Passing(file) {
            @Override
            public void publish(boolean replace) throws IOException {
                try {
                    super.publish(replace);
                } catch (FileAlreadyExistsException e) {
                    throw new IOException("refused");
                }
            }
        });
        refuses("publish(true) failed", file -> new Passing(file) {
            @Override
            public void publish(boolean replace) throws IOException {
                super.publish(false);
            }
        });
    }

    @Test
    void races() {
        Map<String, Integer> published = new HashMap<>();
        refuses("4 threads succeeded", file -> new Passing(file) {
            @Override
            public void publish(boolean replace) throws IOException {
                try {
                    super.publish(replace);
                } catch (FileAlreadyExistsException e) {
                    // Right in sequence, wrong in parallel.
                    if (!Thread.currentThread().getName().startsWith("destination check")) {
                        throw e;
                    }
                    published.merge(name(), 1, Integer::sum);
                }
            }
        });
    }

    @Test
    void removing() {
        refuses("after remove", file -> new Passing(file) {
            @Override
            public void remove() {}
        });
        // The second removal finds the name of another file.
        refuses("file was removed returned null", file -> new Passing(file) {
            private String name;

            @Override
            public void remove() throws IOException {
                name = name().substring(0, name().length() - ".index".length());
                super.remove();
                made.remove(name);
            }
        });
        refuses("remove() again failed", file -> new Passing(file) {
            private boolean removed;

            @Override
            public void remove() throws IOException {
                if (removed) {
                    throw new IOException("removed before");
                }
                removed = true;
                super.remove();
            }
        });
        refuses("close() of a closed file failed", file -> new Passing(file) {
            private boolean closed;

            @Override
            public void close() throws IOException {
                if (closed) {
                    throw new IOException("closed before");
                }
                closed = true;
                super.close();
            }
        });
        refuses("close() of a published file failed", file -> new Passing(file) {
            @Override
            public void close() throws IOException {
                throw new IOException("never");
            }
        });
        refuses("after an unpublished file was closed", file -> new Passing(file) {
            private boolean published;
            private boolean gone;

            @Override
            public void publish(boolean replace) throws IOException {
                super.publish(replace);
                published = true;
            }

            @Override
            public void remove() throws IOException {
                gone = true;
                super.remove();
            }

            @Override
            public void close() throws IOException {
                if (!published && !gone) {
                    published = true;
                    super.publish(true);
                }
                super.close();
            }
        });
    }
}
