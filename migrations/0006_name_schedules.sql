DROP INDEX `schedule_by_pipeline`;--> statement-breakpoint
ALTER TABLE `schedule` ADD `source` text DEFAULT 'api' NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `schedule_by_name` ON `schedule` (`pipeline_id`,`name`);