import { revisionOf, type InjectorConfig } from '../api/injector-config.ts';
import { labelNames, managedBy } from '../api/labels.ts';

/** The labels of every object of an InjectorConfig; {@link import('../api/labels.ts').labelNames} says what each means. */
export function revisionLabels(config: InjectorConfig): Record<string, string> {
  return {
    [labelNames.managedBy]: managedBy,
    [labelNames.operatorClass]: config.spec.operatorClass,
    [labelNames.injectorConfig]: config.metadata.name,
    [labelNames.revision]: revisionOf(config),
  };
}
