package dev.faro.flink;

/** The shuffle that makes the files of a job's blocking partitions. */
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
