package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // CronJob time zones, as in the upstream binaries

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics, as in the upstream binaries
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric, as in the upstream binaries
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	"sigs.k8s.io/kwok/pkg/config"
	"sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/signals"
)

func runEtcd() { etcdmain.Main(os.Args) }

func runAPIServer() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) }

func runControllerManager() { os.Exit(cli.Run(controllermanager.NewControllerManagerCommand())) }

func runScheduler() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) }

// runKwok parses KWOK's global flags (log level, configuration files) before the command parses the
// rest; the upstream binary uses the same order.
func runKwok() {
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := log.InitFlags(signals.SetupSignalContext(), flags)
	ctx, err := config.InitFlags(ctx, flags)
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot read the global flags: %v\n%s", err, flags.FlagUsages())
		os.Exit(1)
	}
	command := cmd.NewCommand(ctx)
	// Other components register a global --version flag of another type, which breaks cobra's flag.
	command.Version = ""
	command.PersistentFlags().AddFlagSet(flags)
	if err := command.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "kwok ended: %v\n", err)
		os.Exit(1)
	}
}
