package dev.faro.flink;

/** Whose files a job's blocking partitions are. */
enum Shuffle {
    STOCK(ObservedFactory.Stock.class),
    FARO(ObservedFactory.Faro.class);

    private final Class<? extends ObservedFactory> factory;

    Shuffle(Class<? extends ObservedFactory> factory) {
        this.factory = factory;
    }

    String factory() {
        return factory.getName();
    }
}
