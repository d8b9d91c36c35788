import { istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { type ReadConfiguration, readConfigurationAtOnce } from '../../inject/configuration/read-configuration.ts';
import { inject } from '../../inject/inject.ts';
import type { InjectionResult, Rehearsal } from '../../inject/injection-result.ts';
import { type Injector, loadInjector } from '../../inject/injector.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { endlessContainers } from '../../inject/pod/endless-job.ts';
import { templateMistakes } from '../../inject/rehearsal/template-mistakes.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import { roomyPod, typicalPod, typicalPods, type TypicalPod } from '../../inject/rehearsal/typical-pods.ts';
import { type TemplateOutput, TemplateOutputs } from '../../inject/render/template-outputs.ts';
import { readLegacyOutput } from '../../inject/render/legacy-template.ts';
import { type AuthorUse, authorUses } from '../../inject/safety/author-uses.ts';
import { areDisjoint, compileLabelSelector } from '../../selection/label-selector.ts';
import type { LabelSelector } from '../../api/kubernetes/kubernetes.ts';
import { placeOfFailure, placeOfField, placeOfWord, type TemplatePlace } from './find-place.ts';
import { outputFindings } from './lint-output.ts';
import type { Level, LintFinding } from './rules.ts';

/** The number of typical pods that every template is tried on. */
export const triedPods = 200;

/** Finds the problems of a configuration. Tries each template on {@link triedPods} typical pods. */
export function lintConfiguration(files: ConfigurationFiles): LintFinding[] {
  try {
    const read = readConfigurationAtOnce(files);
    const broken = [...read.config.templates].flatMap(([template, text]) =>
      templateMistakes(text, read.settings.delimiters).map(({ isUnrepeatable, ...mistake }): LintFinding => {
        return { rule: isUnrepeatable ? 'unrepeatable-function' : 'template-syntax', ...mistake, template };
      }),
    );
    if (broken.length > 0) return broken;
    const injector = loadInjector(files, { read });
    const findings = [...read.config.templates].flatMap(([name, text]) => {
      /** Renders another text for a pod instead of the template, even if it is not YAML. */
      const renderFor = (pod: JsonObject) => (changed: string) => {
        const config = { ...read.config, templates: new Map(read.config.templates).set(name, changed) };
        const outputs = new RecordedOutputs();
        const { templates, ...others } = loadInjector(files, { read: { ...read, config } });
        tryAlone({ ...others, templates: { ...templates, outputs } }, name, pod);
        return outputs.last;
      };
      return lintTemplate(injector, name, text, renderFor);
    });
    const failing = findings.flatMap(({ rule, template = '' }) => (rule === 'template-fails' ? [template] : []));
    findings.push(...podFindings(injector, read.config.templates, failing));
    return [...findings, ...authorFindings(files, injector, read), ...settingFindings(injector, read)];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return [{ rule: 'invalid-object', message: oneLine(error.message), field: error.field }];
  }
}

/** Remembers the last output, even if it is not YAML. */
class RecordedOutputs extends TemplateOutputs {
  last = '';
  override read(text: string): TemplateOutput | undefined {
    this.last = text;
    return super.read(text);
  }
}

/** Injects a pod as if a template were the only default template. */
function tryAlone(injector: Injector, name: string, pod: JsonObject): InjectionResult {
  const rules = { ...injector.rules, policy: 'enabled', neverInject: [] };
  const alone: Injector = { ...injector, rules, defaultTemplates: [name], aliases: new Map() };
  return inject(alone, { pod, namespace: 'default', path: '/inject' });
}

/** Tries one template on typical pods, as if it were the only default template. */
function lintTemplate(
  injector: Injector,
  name: string,
  text: string,
  renderFor: (pod: JsonObject) => (changed: string) => string,
): LintFinding[] {
  const { outputs, legacy } = injector.templates;
  const failed: { kind: string; message: string; pod: JsonObject }[] = [];
  const parts = new Map<string, JsonObject>();
  let tried = 0;
  while (tried < triedPods) {
    const { kind, pod } = typicalPod(injector.settings.keys.inject, tried);
    tried += 1;
    outputs.forget();
    const result = tryAlone(injector, name, pod);
    if (result.outcome === 'failed') failed.push({ kind, message: `${result.message}${result.detail ?? ''}`, pod });
    // Each further pod could take as long.
    if (result.outcome === 'failed' && result.reason === 'TemplateLimit') break;
    for (const [output, content] of outputs.all()) parts.set(output, legacy ? readLegacyOutput(content).part : content);
  }
  outputs.forget();
  const isDefault = injector.defaultTemplates.some((each) =>
    [each, ...(injector.aliases.get(each) ?? [])].includes(name),
  );
  const findings: LintFinding[] = [];
  const [first] = failed;
  if (first !== undefined) {
    const kinds = [...new Set(failed.map(({ kind }) => kind))].slice(0, 3).join(', ');
    const level = isDefault ? (failed.length === tried ? 'error' : 'warning') : 'note';
    const message = `fails for ${failed.length} of ${tried} typical pods, such as ${kinds}: ${oneLine(first.message)}`;
    const place =
      positionIn(first.message) ?? placeOfFailure(text, first.message, injector.settings, renderFor(first.pod));
    findings.push({ rule: 'template-fails', level, message, template: name, ...place });
  }
  // An output that is not part of a pod was already reported.
  if (failed.length === tried) return findings;
  const inOutput = outputFindings([...parts.values()], isDefault);
  return [
    ...findings,
    ...endlessSidecars(injector, name).map((sidecar): LintFinding => ({
      rule: 'endless-job',
      level: isDefault ? 'warning' : 'note',
      message: `container ${sidecar} keeps running in pods of Jobs, so that they never complete`,
      template: name,
      ...placeOfWord(text, `name: ${sidecar}`),
    })),
    ...inOutput.map(({ rule, message, near, field }) => {
      const place = field === undefined ? placeOfWord(text, near) : placeOfField(text, field);
      return { rule, message, template: name, ...place };
    }),
  ];
}

/** Returns the ordinary containers of pods of Jobs. Mode Auto can use native sidecars here. */
function endlessSidecars(injector: Injector, name: string): string[] {
  const { settings } = injector;
  const nativeSidecars = settings.nativeSidecars === 'Auto' ? 'Enabled' : settings.nativeSidecars;
  const added = typicalPods(settings.keys.inject).flatMap(({ pod }) => {
    const result = tryAlone({ ...injector, settings: { ...settings, nativeSidecars } }, name, pod);
    return result.outcome === 'injected' ? endlessContainers(pod, result.pod) : [];
  });
  return [...new Set(added)];
}

/**
 * Finds unusable pods: of the default templates together, and of each other template.
 * @param failing the templates that fail for typical pods, which are not tried again
 */
function podFindings(
  injector: Injector,
  texts: ReadonlyMap<string, string>,
  failing: readonly string[],
): LintFinding[] {
  const { defaultTemplates: defaults, aliases, templateNames } = injector;
  const rules = { ...injector.rules, policy: 'enabled', neverInject: [] };
  const unusableWith = (names: readonly string[], sample?: readonly TypicalPod[]): Rehearsal['unusable'] =>
    rehearse({ ...injector, rules, defaultTemplates: names }, () => 0, sample).unusable;
  const finding = (unusable: Rehearsal['unusable'], names: readonly string[], level?: Level): LintFinding[] => {
    if (unusable === undefined) return [];
    const { message, share, isEvery } = unusable;
    const [, value] = /: "([^"\\]+)"/.exec(message) ?? [];
    const [only = ''] = names;
    const text = texts.get(only) ?? '';
    const [, field = ''] = /(spec\.\S+): /.exec(message) ?? [];
    const byValue = placeOfWord(text, value);
    const inText = byValue.line === undefined ? placeOfField(text, field) : byValue;
    const place = names.length > 1 ? { field: 'config.defaultTemplates' } : inText;
    const template = names.length > 1 ? {} : { template: only };
    const found = { level: level ?? (isEvery ? 'error' : 'warning'), message: `makes ${share} unusable: ${message}` };
    return [{ rule: 'invalid-pod', ...found, ...template, ...place }];
  };
  const named = defaults.flatMap((name) => aliases.get(name) ?? [name]);
  if (named.some((name) => failing.includes(name))) return [];
  const found = finding(unusableWith(defaults), named);
  if (found.length > 0) return found;
  const large = finding(unusableWith(defaults, [roomyPod(injector.settings.keys.inject)]), named, 'note');
  // Another template may replace the default templates, or may only add to them.
  const others = templateNames.filter((name) => !named.includes(name) && !failing.includes(name));
  const alone = others.filter((name) => unusableWith([name]) !== undefined);
  return [...large, ...alone.flatMap((name) => finding(unusableWith([...defaults, name]), [name], 'note'))];
}

/** Reads the position from Go's message `template: inject:LINE:COLUMN: …`. */
function positionIn(message: string): TemplatePlace | undefined {
  const [, line, column] = /inject:(\d{1,7}):(\d{1,7}):/.exec(message) ?? [];
  return line === undefined ? undefined : { line: Number(line), column: Number(column) + 1 };
}

/** The values with which an annotation, or a label, is tried. */
const trials = {
  annotation: ['registry.example.com/other:1', 'true', '0', 'a,b', '{"name":"other"}', 'other\nprivileged: true'],
  label: ['other', 'true', '0', '1e3'],
};

/** Finds the annotations and labels of which preset Safe refuses all or some values. */
function authorFindings(files: ConfigurationFiles, injector: Injector, read: ReadConfiguration): LintFinding[] {
  const { preset, allow } = injector.settings.annotationOverrides;
  const isSafe = preset !== istioOverrides.preset;
  const settings = { ...read.settings, annotationOverrides: { preset: 'Safe' as const, allow } };
  const safe = loadInjector(files, { read: { ...read, settings } });
  return authorUses(safe).flatMap((use): LintFinding[] => {
    const why = use.allowed || use.name === '*' ? undefined : (use.why ?? refusedTrial(safe, use));
    if (why === undefined) return [];
    const named = `${use.of} ${use.name}`;
    const refused =
      use.why === undefined
        ? `preset Safe refuses some values: ${why}`
        : `preset Safe refuses ${named}, because ${why}`;
    const message = isSafe ? refused : `every author of pods may set ${named}: ${why}`;
    const [template, text = ''] = [...read.config.templates].find(([, each]) => each.includes(use.name)) ?? [];
    const at = template === undefined ? {} : { template, ...placeOfWord(text, use.name) };
    return [{ rule: 'author-annotation', level: isSafe ? 'note' : 'warning', message, ...at }];
  });
}

/** Returns what a value of an annotation or label would change, if preset Safe refuses one. */
function refusedTrial(safe: Injector, { of, name }: AuthorUse): string | undefined {
  const { pod, namespace = 'default' } = typicalPod(safe.settings.keys.inject, 0);
  const metadata = pod.metadata as Readonly<Record<string, JsonObject>>;
  for (const value of trials[of]) {
    const tried = { ...metadata, [`${of}s`]: { ...metadata[`${of}s`], [name]: value } };
    const result = inject(safe, { pod: { ...pod, metadata: tried }, namespace, path: '/inject' });
    // A value that only makes a template fail gives its author no influence.
    if (result.outcome !== 'failed' || result.reason !== 'UnsafeAnnotation') continue;
    if (result.message.includes(' does not fit ')) continue;
    return oneLine(result.message).split(': ')[0];
  }
  return undefined;
}

function settingFindings(injector: Injector, { config }: ReadConfiguration): LintFinding[] {
  const ignored = injector.warnings.map((message): LintFinding => ({
    rule: 'ignored-setting',
    message,
    field: 'config',
  }));
  const empty = (['alwaysInjectSelector', 'neverInjectSelector'] as const).flatMap((name) =>
    config[name].flatMap((selector, index): LintFinding[] => {
      const field = `config.${name}[${index}]`;
      const message = `${field}: no labels match this selector`;
      return isEmpty(selector as LabelSelector) ? [{ rule: 'selects-nothing', message, field }] : [];
    }),
  );
  return [...ignored, ...empty];
}

/** Reports whether a valid selector matches no labels. */
export function isEmpty(selector: LabelSelector): boolean {
  return 'matches' in compileLabelSelector(selector, 'everything') && areDisjoint(selector, selector);
}

/** Joins the lines of a message. */
function oneLine(message: string): string {
  const lines = message.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}
