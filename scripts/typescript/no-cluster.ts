/** For mocha: prevents unit tests from using a cluster of the developer. */
process.env['KUBECONFIG'] = '/nowhere/no-kubeconfig';
