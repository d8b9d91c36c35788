{{- define "injector-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The full name, at most 52 characters, so that suffixes fit into a label. */}}
{{- define "injector-operator.fullname" -}}
{{- $name := include "injector-operator.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | replace "." "-" | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | replace "." "-" | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The name of cluster-scoped objects; two namespaces can have releases of the same name. */}}
{{- define "injector-operator.clusterName" -}}
{{- printf "%s-%s" (include "injector-operator.fullname" .) .Release.Namespace }}
{{- end }}

{{/* The roles, one for each Deployment, as a JSON array; use fromJsonArray. */}}
{{- define "injector-operator.roles" -}}
{{- ternary (list "all") (list "controller" "webhook") (eq .Values.mode "all") | toJson }}
{{- end }}

{{/* The roles that serve admission and that lead; in mode all both are the same. */}}
{{- define "injector-operator.servingRole" -}}
{{- ternary "all" "webhook" (eq .Values.mode "all") }}
{{- end }}
{{- define "injector-operator.leadingRole" -}}
{{- ternary "all" "controller" (eq .Values.mode "all") }}
{{- end }}

{{/* The name of a role's objects. Call this and the following with (dict "root" $ "role" role). */}}
{{- define "injector-operator.roleName" -}}
{{- $fullname := include "injector-operator.fullname" .root }}
{{- ternary $fullname (printf "%s-%s" $fullname .role) (eq .role "all") }}
{{- end }}

{{- define "injector-operator.serviceAccount" -}}
{{- $given := (index .root.Values .role).serviceAccountName }}
{{- default (ternary (include "injector-operator.roleName" .) "default" .root.Values.serviceAccount.create) $given }}
{{- end }}

{{- define "injector-operator.roleSelectorLabels" -}}
{{ include "injector-operator.selectorLabels" .root }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The labels of a role's objects. */}}
{{- define "injector-operator.roleLabels" -}}
{{ include "injector-operator.labels" (dict "root" .root "labels" (merge (dict "app.kubernetes.io/component" .role) (default (dict) .labels))) }}
{{- end }}

{{/* "true" if a HorizontalPodAutoscaler sets the number of pods, else empty. Controllers have none. */}}
{{- define "injector-operator.isScaled" -}}
{{- with (index .root.Values .role).autoscaling }}{{ ternary "true" "" .enabled }}{{ end }}
{{- end }}

{{/* The minimum number of pods. */}}
{{- define "injector-operator.fewestReplicas" -}}
{{- $part := index .root.Values .role }}
{{- if include "injector-operator.isScaled" . }}{{ $part.autoscaling.minReplicas }}{{ else }}{{ $part.replicas }}{{ end }}
{{- end }}

{{/* The name of the Role that the operator maintains; same rule as in src/api/names.ts. */}}
{{- define "injector-operator.servingSecretsRole" -}}
{{- ternary "sidecar-injector-serving" (printf "sidecar-injector-serving-%s" .Values.operator.class) (eq .Values.operator.class "default") }}
{{- end }}

{{- define "injector-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "injector-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The labels of every object. Call it with (dict "root" $ "labels" more) to add labels, which override commonLabels. */}}
{{- define "injector-operator.labels" -}}
{{- $root := default . .root }}
{{- with $root }}
{{ include "injector-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- with mergeOverwrite (dict) $root.Values.commonLabels (default (dict) .labels) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "injector-operator.image" -}}
{{- $repository := ternary (printf "%s/%s" .Values.image.registry .Values.image.repository) .Values.image.repository (ne .Values.image.registry "") }}
{{- if .Values.image.digest }}
{{- printf "%s@%s" $repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* The ServiceAccount of a role, as the subject of a binding. */}}
{{- define "injector-operator.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "injector-operator.serviceAccount" . }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
