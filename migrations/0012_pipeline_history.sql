CREATE TABLE `pipeline_history` (
	`org_id` text NOT NULL,
	`pipeline_id` text NOT NULL,
	`newest` text NOT NULL,
	`oldest` text NOT NULL,
	`is_red` integer NOT NULL,
	`builds` text NOT NULL,
	`days` text NOT NULL,
	`counted_at` integer NOT NULL,
	`recounted_at` integer NOT NULL,
	PRIMARY KEY(`org_id`, `pipeline_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `pipeline_history_by_newest` ON `pipeline_history` (`org_id`,`newest`);--> statement-breakpoint
CREATE INDEX `pipeline_history_red` ON `pipeline_history` (`org_id`,`newest`) WHERE is_red = 1;