{{- define "injector-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 52 characters, so that suffixes fit into a label. */}}
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

{{/* For objects of the cluster: the same release name may be used in two namespaces. */}}
{{- define "injector-operator.clusterName" -}}
{{- printf "%s-%s" (include "injector-operator.fullname" .) .Release.Namespace }}
{{- end }}

{{/* The Deployments, by role: fromJsonArray it. */}}
{{- define "injector-operator.roles" -}}
{{- ternary (list "all") (list "controller" "webhook") (eq .Values.mode "all") | toJson }}
{{- end }}

{{/* The roles that serve admission and those that lead are one Deployment in mode all. */}}
{{- define "injector-operator.servingRole" -}}
{{- ternary "all" "webhook" (eq .Values.mode "all") }}
{{- end }}
{{- define "injector-operator.leadingRole" -}}
{{- ternary "all" "controller" (eq .Values.mode "all") }}
{{- end }}

{{/* Of a role; call it and those below with (dict "root" $ "role" role). */}}
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

{{/* Of the objects of one role. */}}
{{- define "injector-operator.roleLabels" -}}
{{ include "injector-operator.labels" (dict "root" .root "labels" (merge (dict "app.kubernetes.io/component" .role) (default (dict) .labels))) }}
{{- end }}

{{/* Whether a HorizontalPodAutoscaler sets the number of pods: true, or nothing. The controllers have none. */}}
{{- define "injector-operator.isScaled" -}}
{{- with (index .root.Values .role).autoscaling }}{{ ternary "true" "" .enabled }}{{ end }}
{{- end }}

{{/* How many pods there are at least. */}}
{{- define "injector-operator.fewestReplicas" -}}
{{- $part := index .root.Values .role }}
{{- if include "injector-operator.isScaled" . }}{{ $part.autoscaling.minReplicas }}{{ else }}{{ $part.replicas }}{{ end }}
{{- end }}

{{/* The Role that the operator maintains; src/api/names.ts has the same rule. */}}
{{- define "injector-operator.servingSecretsRole" -}}
{{- ternary "sidecar-injector-serving" (printf "sidecar-injector-serving-%s" .Values.operator.class) (eq .Values.operator.class "default") }}
{{- end }}

{{- define "injector-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "injector-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of every object; call it with (dict "root" $ "labels" further) where there are more, which win over commonLabels. */}}
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
