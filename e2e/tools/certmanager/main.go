// Command certmanager runs cert-manager's controllers: `certmanager controller` for issuers and
// Certificates, `certmanager cainjector` for the caBundles of webhooks. `go install` cannot install
// cert-manager's own commands, because their modules have `replace` directives.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	clientscheme "github.com/cert-manager/cert-manager/pkg/client/clientset/versioned/scheme"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	requestsca "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	requestsselfsigned "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	utilfeature "github.com/cert-manager/cert-manager/pkg/util/feature"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 3 {
		log.Fatal("usage: certmanager controller|cainjector KUBECONFIG")
	}
	run := map[string]func(context.Context, string) error{"controller": runController, "cainjector": runCAInjector}[os.Args[1]]
	if run == nil {
		log.Fatalf("unknown program %q: want controller or cainjector", os.Args[1])
	}
	if err := run(ctx, os.Args[2]); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func runController(ctx context.Context, kubeconfig string) error {
	options := controller.ContextOptions{
		Kubeconfig:         kubeconfig,
		KubernetesAPIQPS:   100,
		KubernetesAPIBurst: 200,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: "cert-manager"},
		// A minute is the minimum of cert-manager's own flags.
		CertificateOptions: controller.CertificateOptions{
			CertificateRequestMinimumBackoffDuration: time.Second,
			CertificateRequestMaximumBackoffDuration: 5 * time.Second,
		},
	}
	factory, err := controller.NewContextFactory(ctx, options)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	names := []string{
		approver.ControllerName, requestsca.CRControllerName, requestsselfsigned.CRControllerName,
		issuing.ControllerName, keymanager.ControllerName, readiness.ControllerName, requestmanager.ControllerName,
		revisionmanager.ControllerName, trigger.ControllerName, issuers.ControllerName, clusterissuers.ControllerName,
	}
	var running []controller.Interface
	for _, name := range names {
		started, err := controller.Known()[name](factory)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		running = append(running, started)
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	var group sync.WaitGroup
	for index, each := range running {
		group.Go(func() {
			if err := each.Run(2, ctx); err != nil && ctx.Err() == nil {
				log.Fatalf("%s: %v", names[index], err)
			}
		})
	}
	log.Printf("%d controllers run", len(running))
	group.Wait()
	return nil
}

func runCAInjector(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	if err := kubernetesscheme.AddToScheme(scheme); err != nil {
		return err
	}
	if err := clientscheme.AddToScheme(scheme); err != nil {
		return err
	}
	// Replace all other CAs, as versions before 1.19 do. Later versions append their CA.
	if err := utilfeature.DefaultMutableFeatureGate.Set("CAInjectorMerging=false"); err != nil {
		return err
	}
	// The name that cert-manager's own command uses; it is also the field manager of writes.
	config.UserAgent = "cainjector/e2e"
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	setup := cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor:        map[string]bool{"mutatingwebhookconfiguration": true},
	}
	if err := cainjector.RegisterAllInjectors(ctx, manager, setup); err != nil {
		return err
	}
	return manager.Start(ctx)
}
