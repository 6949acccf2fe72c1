ALTER TABLE `organization` ADD `variable_count` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
-- Before the rows are counted: so one that is written in between counts once, whichever comes first.
CREATE TRIGGER variable_created AFTER INSERT ON variable BEGIN
  UPDATE organization SET variable_count = variable_count + 1 WHERE id = NEW.org_id;
END;
--> statement-breakpoint
CREATE TRIGGER variable_deleted AFTER DELETE ON variable BEGIN
  UPDATE organization SET variable_count = variable_count - 1 WHERE id = OLD.org_id;
END;
--> statement-breakpoint
UPDATE organization SET variable_count = (SELECT count(*) FROM variable WHERE org_id = organization.id);
