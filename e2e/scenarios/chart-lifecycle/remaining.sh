# Prints the names of all our objects, except Events. Arguments are passed to kubectl get.
kinds=$(kubectl api-resources --verbs=list -o name | paste -sd, -)
kubectl get "$kinds" -A -o name "$@" 2>&- | grep injector | grep -v ^event | sort
