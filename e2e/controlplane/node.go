package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func runKubelet() { os.Exit(cli.Run(kubeletCommand(kubelet.NewKubeletCommand))) }

func runKubeProxy() { os.Exit(cli.Run(proxy.NewProxyCommand())) }

// kubeletCommand calls a function that has no parameter in Kubernetes 1.33.
func kubeletCommand(create any) *cobra.Command {
	if create, ok := create.(func() *cobra.Command); ok {
		return create()
	}
	return create.(func(context.Context) *cobra.Command)(context.Background())
}
