{{- define "training.labels" -}}
app: training
{{- end }}
