/** The containers that Istio's templates bring and whose handling the engine knows. A pod without the first of them gets no proxy-specific treatment. */
export const proxyContainer = 'istio-proxy';
export const initContainer = 'istio-init';
export const validationContainer = 'istio-validation';
export const coreDumpContainer = 'enable-core-dump';
