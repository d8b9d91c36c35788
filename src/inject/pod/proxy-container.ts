/** The containers of Istio's templates; `istio-proxy` enables proxy-specific handling. */
export const proxyContainer = 'istio-proxy';
export const initContainer = 'istio-init';
export const validationContainer = 'istio-validation';
export const coreDumpContainer = 'enable-core-dump';
