/**
 * Calls back in an environment that names no kubeconfig, and restores it. The library's Operator loads the default one in its constructor, always,
 * and a broken file there must not stop a process that was told to use another.
 */
export function withoutDefaultKubeconfig(): () => void {
  const { KUBECONFIG: kubeconfig, HOME: home } = process.env;
  delete process.env.KUBECONFIG;
  delete process.env.HOME;
  return () => {
    if (kubeconfig !== undefined) process.env.KUBECONFIG = kubeconfig;
    if (home !== undefined) process.env.HOME = home;
  };
}
