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

{{- define "injector-operator.serviceAccount" -}}
{{- default (ternary (include "injector-operator.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
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

{{/* What the operator is bound to: its ServiceAccount. */}}
{{- define "injector-operator.subjects" -}}
subjects:
  - kind: ServiceAccount
    name: {{ include "injector-operator.serviceAccount" . }}
    namespace: {{ .Release.Namespace }}
{{- end }}
