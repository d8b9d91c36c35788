package main

import (
	"context"
	"os"

	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func runKubelet() { os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background()))) }

func runKubeProxy() { os.Exit(cli.Run(proxy.NewProxyCommand())) }
