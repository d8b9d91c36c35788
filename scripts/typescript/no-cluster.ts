/** For mocha: no unit test may find a cluster of the person who runs it. */
process.env['KUBECONFIG'] = '/nowhere/no-kubeconfig';
