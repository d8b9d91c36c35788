# Names of everything on the cluster that has to do with us, Events apart; what kubectl get is told besides.
kinds=$(kubectl api-resources --verbs=list -o name | paste -sd, -)
kubectl get "$kinds" -A -o name "$@" 2>&- | grep injector | grep -v ^event | sort
